Feature: Keys open what they are for, and are shown to nobody
  A router stands where secrets pass: the client's key, the engines' keys, the addresses of machines
  that nobody outside should know. Each of them goes where it belongs and nowhere else. And what is
  no request at all is refused before an engine sees it.

  @id:security-clients-bring-a-key @must @needs:chat @needs:faults @rfc:9110-11.6.1
  Scenario: With keys configured, who brings none of them is turned away
    Given an engine "one" that serves
    And the router in front of all engines, set to
      | api_keys | client-key-1, client-key-2 |
    And the router is ready
    When a JSON request is sent
    Then the answer has status 401
    And the answer has header "WWW-Authenticate"
    And the error is one that OpenAI clients read
    When a JSON request is sent with the headers
      | Authorization | Bearer client-key-3 |
    Then the answer has status 401
    And engine "one" got 0 requests from clients
    When a JSON request is sent with the headers
      | Authorization | Bearer client-key-2 |
    Then the request succeeds
    When a JSON request is sent with the headers
      | X-Api-Key | client-key-1 |
    Then the request succeeds

  @id:security-what-needs-no-key @should @needs:chat @bundled
  Scenario Outline: <route> with keys configured is answered with <status>
    Given an engine "one" that serves
    And the router in front of all engines, set to
      | api_keys | client-key-1 |
    And the router is ready
    When "<route>" is asked of the router
    Then the answer has status <status>

    Examples:
      | route          | status |
      | GET /v1/models | 401    |
      | GET /workers   | 401    |
      | GET /liveness  | 200    |
      | GET /readiness | 200    |
      | GET /metrics   | 200    |

  @id:security-a-workers-key-replaces-the-clients @must @needs:chat @needs:faults @case:B113
  Scenario: A worker with a key of its own gets that one, and never the client's
    Given an engine "one" that serves
    And the router in front of all engines, set to
      | worker_api_key | worker-key |
    And the router is ready
    When a JSON request is sent with the headers
      | Authorization | Bearer client-secret |
      | X-Api-Key     | client-secret        |
    Then the request succeeds
    And engine "one" saw the header "Authorization" with "Bearer worker-key"
    And engine "one" saw no header "X-Api-Key"
    And engine "one" never saw "client-secret"

  @id:security-probes-carry-the-key @must @needs:faults @needs:clock @case:B085
  Scenario Outline: A protected engine serves behind a router that has its key as <setting>
    Given an engine "one" that serves
    When engine "one" needs the key "engine-key" for everything
    Given the router in front of all engines, set to
      | <setting> | engine-key |
    And the router is ready
    When a JSON request is sent with the headers
      | Authorization | Bearer engine-key |
    Then the request succeeds

    Examples:
      | setting        |
      | worker_api_key |
      | api_keys       |

  @id:security-the-clients-key-passes @must @needs:chat @needs:faults @case:B112
  Scenario: Without keys of the router's the client's own passes, and a 401 takes no worker away
    Given an engine "one" that serves
    And the router in front of all engines
    And the router is ready
    When a JSON request is sent with the headers
      | Authorization | Bearer client-secret |
    Then engine "one" saw the header "Authorization" with "Bearer client-secret"
    When engine "one" answers chat with 401 for 10 requests
    And 10 JSON requests are sent one after another
    Then the last 10 answers have status 401
    When a JSON request is sent
    Then the request succeeds

  @id:security-our-key-goes-to-configured-workers-only @should @needs:faults @needs:clock @bundled @case:B137
  Scenario: A worker that is added at run time is not handed the key of the configured ones
    Given an engine "one" that serves
    And the router in front of engine "one", set to
      | worker_api_key | worker-key |
    And the router is ready
    Given an engine "stranger" that serves
    When the router adds engine "stranger"
    And 2 seconds pass
    And 4 JSON requests are sent one after another
    Then every request succeeds
    And engine "one" saw the header "Authorization" with "Bearer worker-key"
    And engine "stranger" never saw "worker-key"

  @id:security-admin-by-key @must @needs:chat @bundled
  Scenario Outline: With an admin key, "<key>" may not change the fleet
    Given an engine "one" that serves
    And the router in front of all engines, set to
      | api_keys       | client-key |
      | admin_api_keys | admin-key  |
    And the router is ready
    When "DELETE /workers/w00" is asked of the router with the headers
      | Authorization | <key> |
    Then the answer has status 401
    When a JSON request is sent with the headers
      | Authorization | Bearer client-key |
    Then the request succeeds
    When "DELETE /workers/w00" is asked of the router with the headers
      | Authorization | Bearer admin-key |
    Then the router has 0 workers

    Examples:
      | key               |
      | Bearer client-key |
      | Bearer nothing    |
      | Basic admin-key   |

  @id:security-admin-from-here-only @must @needs:chat @bundled
  Scenario Outline: Without an admin key, a caller with <header> is not from this machine
    Given an engine "one" that serves
    And the router in front of all engines
    And the router is ready
    When "DELETE /workers/w00" is asked of the router with the headers
      | <header> | <value> |
    Then the answer has status 403
    And the error is one that OpenAI clients read
    When a JSON request is sent
    Then the request succeeds

    Examples:
      | header          | value                  |
      | X-Forwarded-For | 10.1.2.3               |
      | Forwarded       | for=10.1.2.3           |
      | Origin          | http://somewhere.test  |
      | Via             | 1.1 somebody           |

  @id:security-no-address-and-no-key-is-told @must @needs:faults @needs:clock @bundled
  Scenario: Whatever goes wrong, no answer, metric or log line names an address or a key
    Given an engine "one" that serves
    And the router in front of all engines, set to
      | worker_api_key | worker-key |
    And the router is ready
    When engine "one" resets chat for 1 request
    And a JSON request is sent
    And engine "one" answers chat with 500 for 5 requests
    And 5 JSON requests are sent one after another
    And a JSON request is sent
    Then the answer has status 503
    When the process of engine "one" dies
    And 40 seconds pass
    And a JSON request is sent
    And "GET /readiness" is asked of the router
    Then the answer has status 503
    And no answer names an engine's address
    And no metric and no log line names an engine's address
    And no answer, metric or log line has "worker-key"

  @id:security-what-is-no-request @must @needs:chat @needs:faults @needs:openai-errors
  Scenario Outline: A body that is <what> is refused before an engine sees it
    Given an engine "one" that serves
    And the router in front of all engines
    And the router is ready
    When a request with this body is sent
      """
      <body>
      """
    Then the answer has status 400
    And the error is one that OpenAI clients read
    And engine "one" got 0 requests from clients
    When a JSON request is sent
    Then the request succeeds

    Examples:
      | what               | body                                                               |
      | cut                | {"model": "qwen", "x": "Say hello to the judge."                   |
      | no JSON            | Say hello to the judge.                                            |
      | a list             | ["Say hello to the judge."]                                        |
      | a number           | 7                                                                  |
      | nothing at all     |                                                                    |
      | a model of no text | {"model": 7, "x": "Say hello to the judge."}                       |
      | a stream of no yes | {"model": "qwen", "stream": "yes", "x": "Say hello to the judge."} |
      | no UTF-8           | {"model": "qwen", "x": "[byte FF] Say hello to the judge."}        |
      | no UTF-8 in a key  | {"model": "qwen", "[byte C3](": "Say hello to the judge."}         |

  @id:security-too-deep @must @needs:chat @needs:faults @needs:bodies
  Scenario Outline: A body nested <depth> deep is refused before an engine sees it
    Given an engine "one" that serves
    And the router in front of all engines
    And the router is ready
    When a request nested <depth> deep is sent
    Then the answer has status 400
    And engine "one" got 0 requests from clients

    Examples:
      | depth |
      | 600   |
      | 90000 |

  @id:security-too-large @must @needs:chat @needs:faults @needs:openai-errors @rfc:9110-15.5.14
  Scenario: A body of 50 MB is a 413 that its client can read
    Given an engine "one" that serves
    And the router in front of all engines, set to
      | max_payload_size | 33554432 |
    And the router is ready
    When a request of 50000000 bytes is sent
    Then the answer has status 413
    And the error is one that OpenAI clients read
    And engine "one" got 0 requests from clients
    When a JSON request is sent
    Then the request succeeds

  @id:security-over-the-limit @must @needs:chat @needs:faults @rfc:9110-15.5.14
  Scenario: A body over the limit that was set is a 413, and costs an engine nothing
    Given an engine "one" that serves
    And the router in front of all engines, set to
      | max_payload_size | 100000 |
    And the router is ready
    When a request of 300000 bytes is sent
    Then the answer has status 413
    And engine "one" got 0 requests from clients

  @id:security-no-request-is-refused @must @needs:chat @needs:faults @needs:bodies
  Scenario Outline: A body that is <what> is the client's mistake, and costs an engine nothing
    Given an engine "one" that serves
    And the router in front of all engines
    And the router is ready
    When a request with this body is sent
      """
      <body>
      """
    Then the answer blames the client
    And engine "one" got 0 requests from clients
    When a JSON request is sent
    Then the request succeeds

    Examples:
      | what           | body                                                        |
      | cut            | {"model": "qwen", "x": "Say hello to the judge."            |
      | no JSON        | Say hello to the judge.                                     |
      | a list         | ["Say hello to the judge."]                                 |
      | nothing at all |                                                             |
      | no UTF-8       | {"model": "qwen", "x": "[byte FF] Say hello to the judge."} |

  @id:security-a-new-field-passes @must @needs:chat @needs:faults @case:B115
  Scenario: A field that only the engine knows reaches it
    Given an engine "one" that serves
    And the router in front of all engines
    And the router is ready
    When a request with this body is sent
      """
      {"model": "qwen", "messages": [{"role": "user", "content": "Say hello to the judge."}], "an_engines_own": {"a": [1, null]}}
      """
    Then the request succeeds
    And engine "one" saw the field "an_engines_own" with {"a": [1, null]}

  @id:security-what-nobody-knows-passes @must @needs:chat @needs:faults @needs:verbatim @case:B115
  Scenario Outline: <what> pass untouched
    Given an engine "one" that serves
    And the router in front of all engines
    And the router is ready
    When a request with this body is sent
      """
      <body>
      """
    Then the body reached engine "one" unchanged

    Examples:
      | what            | body                                                                                     |
      | Big integers    | {"model":"qwen","messages":[{"role":"user","content":"Hi"}],"x":123456789012345678901234567890} |
      | Unknown fields  | {"model":"qwen", "messages":[{"role":"user","content":"Hi"}],  "v": {"a": [1e400, null]}}       |
      | Repeated spaces | {  "model" :  "qwen" , "messages":[{"role":"user","content":"Hi"}]   }                         |
      | Odd escapes     | {"model":"qwen","messages":[{"role":"user","content":"Hi"}],"x":"\\u0041\\ud83d\\ude00"}              |
