Feature: Overload is met with a line, then with 429
  An engine has so many slots. Whoever comes when all are taken waits his turn, first come first
  served, for a while; when the line is full the router says at once that it is full, and when to come
  back. 429 says that we are saturated, 503 that nobody is there: a client does something else in
  each case.

  @id:overload-slots-then-line-then-429 @must @needs:faults @needs:clock @rfc:6585-4
  Scenario Outline: Ten <kind> requests on two slots and three places in the line
    Given an engine "one" that serves
    And the router in front of all engines, set to
      | max_concurrent_requests | 2 |
      | queue_size              | 3 |
    And the router is ready
    When engine "one" waits 10 seconds before answering chat for 5 requests
    And 10 <kind> requests are on their way to the router
    And all of them are answered
    Then 5 of the answers have status 200
    And 5 of the answers have status 429
    And engine "one" never had more than 2 requests at once
    When a <kind> request is sent
    Then the request succeeds

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:overload-429-says-when @must @needs:faults @needs:virtual @rfc:6585-4
  Scenario: Who finds the line full is told at once, in OpenAI's words, and when to come back
    Given an engine "one" that serves
    And the router in front of all engines, set to
      | max_concurrent_requests | 1 |
      | queue_size              | 1 |
    And the router is ready
    When engine "one" waits 40 seconds before answering chat for 1 request
    And 2 JSON requests are on their way to the router
    And 19.5 seconds pass
    And a JSON request is sent
    Then the answer has status 429
    And the answer has header "Retry-After" with "20"
    And the error is one that OpenAI clients read
    And the answer took 0 seconds
    When all of them are answered
    And a JSON request is sent
    Then the request succeeds

  @id:overload-the-wait-is-limited @must @needs:faults @needs:clock
  Scenario: Who waits too long is sent away, and the engine never sees it
    Given an engine "one" that serves
    And the router in front of all engines, set to
      | max_concurrent_requests | 1  |
      | queue_timeout_secs      | 15 |
    And the router is ready
    When engine "one" waits 50 seconds before answering chat for 1 request
    And a JSON request "first" is on its way
    And a JSON request is sent
    Then the answer has status 429
    And the answer took 15 seconds
    And the answer has header "Retry-After"
    When request "first" is answered
    Then the request succeeds
    And engine "one" got 1 requests from clients

  @id:overload-first-come-first-served @must @needs:faults @needs:clock
  Scenario: Nobody overtakes
    Given an engine "one" that serves
    And the router in front of all engines, set to
      | max_concurrent_requests | 1 |
    And the router is ready
    When engine "one" waits 1 second before answering chat
    And 8 JSON requests are on their way to the router
    And all of them are answered
    Then every request succeeds
    And engine "one" was asked in the order in which the requests came
    And engine "one" never had more than 1 requests at once

  @id:overload-a-leaver-gives-up-its-place @must @needs:faults @needs:clock
  Scenario: A client that leaves the line gives up its place, and its request is never sent
    Given an engine "one" that serves
    And the router in front of all engines, set to
      | max_concurrent_requests | 1 |
      | queue_size              | 1 |
    And the router is ready
    When engine "one" waits 30 seconds before answering chat for 1 request
    And a JSON request "first" is on its way
    And a JSON request is sent and its client leaves after 5 seconds
    And 1 seconds pass
    And a JSON request is sent
    Then the request succeeds
    When request "first" is answered
    Then engine "one" got 2 requests from clients

  @id:overload-a-leaver-gives-up-its-slot @must @needs:faults @needs:clock
  Scenario Outline: A client that leaves during its <kind> answer gives the slot to the next
    Given an engine "one" that serves
    And the router in front of all engines, set to
      | max_concurrent_requests | 1 |
      | queue_size              | 0 |
    And the router is ready
    When engine "one" stalls chat after <events> events for 1 request
    And a <kind> request is sent and its client leaves after 5 seconds
    And a <kind> request is sent
    Then the request succeeds

    Examples:
      | kind      | events |
      | streaming | 2      |
      | streaming | 0      |

  @id:overload-the-router-still-speaks @must @needs:faults @needs:clock
  Scenario: A full router still says how it is
    Given an engine "one" that serves
    And the router in front of all engines, set to
      | max_concurrent_requests | 1 |
      | queue_size              | 0 |
    And the router is ready
    When engine "one" waits 30 seconds before answering chat for 1 request
    And a JSON request "first" is on its way
    And "GET /readiness" is asked of the router
    Then the answer has status 200
    When "GET /v1/models" is asked of the router
    Then the answer has status 200
    When a JSON request is sent
    Then the answer has status 429
    When request "first" is answered
    Then the request succeeds

  @id:overload-each-engine-has-a-cap @must @needs:faults @needs:clock @bundled
  Scenario: An engine gets no more than its cap, and who finds all at theirs waits
    Given 2 engines that serve
    And the router in front of all engines, set to
      | worker_max_requests | 2 |
      | queue_size          | 3 |
    And the router is ready
    When engine "e00" waits 10 seconds before answering chat
    And engine "e01" waits 10 seconds before answering chat
    And 8 JSON requests are on their way to the router
    And all of them are answered
    Then 7 of the answers have status 200
    And 1 of the answers have status 429
    And engine "e00" never had more than 2 requests at once
    And engine "e01" never had more than 2 requests at once

  @id:overload-the-engines-answer-stands @must @needs:faults @counts @case:B121 @case:B127
  Scenario Outline: An engine that says <status> by itself is passed on as it is
    Given an engine "one" that serves
    And the router in front of all engines
    And the router is ready
    When engine "one" answers chat with <status> and retry-after 7 seconds for 1 request
    And a <kind> request is sent
    Then the answer has status <status>
    And the answer has header "Retry-After" with "7"
    And the answer has no header "x-staticfire-error"

    Examples:
      | status | kind      |
      | 429    | JSON      |
      | 503    | JSON      |
      | 429    | streaming |
      | 503    | streaming |

  @id:overload-the-engines-413-is-its-own @should @needs:faults @case:B127
  Scenario: A 413 of the engine's own front does not look like ours
    Given an engine "one" that serves
    And the router in front of all engines
    And the router is ready
    When engine "one" answers chat with 413 and body "<h1>Too large</h1>" for 1 request
    And a JSON request is sent
    Then the answer has status 413
    And the answer has no header "x-staticfire-error"

  @id:overload-nobody-home-is-503 @must @needs:faults @needs:clock @needs:openai-errors @case:B122
  Scenario: Where nobody is home the answer is 503, never 429
    Given an engine "late" that refuses for 600 seconds
    And the router in front of all engines, set to
      | max_concurrent_requests | 1 |
      | queue_size              | 0 |
    When a JSON request is sent
    Then the answer has status 503
    And the answer has header "Retry-After"
    And the error is one that OpenAI clients read

  @id:overload-many-at-once @must @needs:faults @needs:clock @case:B125
  Scenario: A hundred and fifty at once on a few slots are all answered
    Given an engine "one" that serves
    And the router in front of all engines, set to
      | max_concurrent_requests | 20  |
      | queue_size              | 500 |
    And the router is ready
    When engine "one" waits 0.05 seconds before answering chat
    And 150 JSON requests are sent at once
    Then every request succeeds
    And engine "one" never had more than 20 requests at once
