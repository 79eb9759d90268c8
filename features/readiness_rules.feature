Feature: What a reply says about an engine
  Any reply shows that a process lives; not every reply shows that a user would be served. A key that
  is refused, a route that is missing, a web page with a 200: each is told as what it is, and none of
  them is taken for an engine that serves, or for a reason to restart one.

  @id:serving-engine-passes-every-rule @must @needs:listing @needs:chat
  Scenario Outline: An engine that serves passes under the rule <rule>
    Given an engine "service" that serves
    When a probe under the rule "<rule>" asks engine "service"
    Then the verdict is serving

    Examples:
      | rule     |
      | answered |
      | proven   |
      | strict   |

  @id:accept-rule-proven @must @needs:faults @readiness:12 @readiness:18
  Scenario Outline: Under the rule proven, an engine that <does> is <verdict>
    Given an engine "one" that serves
    And engine "one" <does>
    When a probe asks engine "one"
    Then the verdict is <verdict>

    Examples:
      | does                               | verdict       |
      | answers chat with 200 and body "{}"             | misconfigured |
      | answers chat with 200 and body "<p>Welcome</p>" | misconfigured |
      | answers chat with 200 and body "{"error": {}}"  | misconfigured |
      | answers chat with 400              | serving       |
      | answers chat with 413              | serving       |
      | answers chat with 422              | serving       |
      | answers chat with 401              | misconfigured |
      | answers chat with 403              | misconfigured |
      | answers chat with 404              | misconfigured |
      | answers chat with 307              | misconfigured |
      | answers chat with 408              | busy          |
      | answers chat with 425              | busy          |
      | answers chat with 429              | busy          |
      | answers chat with 503              | busy          |
      | answers chat with 500              | broken        |
      | never answers chat                 | listing       |
      | resets chat                        | broken        |
      | closes chat without answering      | broken        |
      | truncates chat after 10 bytes      | broken        |

  @id:accept-rules-differ @must @needs:faults @readiness:21
  Scenario Outline: Under the rule <rule>, an engine that answers chat with <status> is <verdict>
    Given an engine "one" that serves
    And engine "one" answers chat with <status>
    When a probe under the rule "<rule>" asks engine "one"
    Then the verdict is <verdict>

    Examples:
      | rule     | status | verdict       |
      | answered | 404    | serving       |
      | answered | 429    | serving       |
      | answered | 503    | busy          |
      | answered | 500    | broken        |
      | strict   | 400    | misconfigured |
      | strict   | 404    | misconfigured |
      | strict   | 503    | busy          |

  @id:a-strict-test-names-the-wrong-model @must @needs:faults @readiness:21
  Scenario: A smoke test after the load that is refused means the wrong model
    Given an engine "one" that serves
    And engine "one" answers chat with 400
    When a probe under the rule "strict" asks engine "one"
    Then the verdict is misconfigured
    And the verdict says "the wrong model came up"

  @id:a-refusal-on-its-merits-proves-life @must @needs:faults @needs:clock @readiness:12
  Scenario: A bad request makes an engine ready, with that as the evidence
    Given an engine "one" that serves
    And engine "one" answers chat with 400
    And a watch on engine "one"
    When the watch checks once
    Then its status is ready
    And its reason says "chat answered 400: refused on its merits"

  @id:a-refused-key-is-misconfigured @must @needs:faults @needs:clock @readiness:13
  Scenario Outline: A key that is refused with <status> is told, and is no reason to restart
    Given an engine "one" that serves
    And engine "one" answers chat with <status>
    When a probe asks engine "one"
    Then the verdict is misconfigured
    And the verdict says "the key is refused"
    Given a watch on engine "one"
    When the watch checks every 5 seconds for 40 seconds
    Then it became misconfigured at 15 s
    And it was never failed

    Examples:
      | status |
      | 401    |
      | 403    |

  @id:a-key-is-sent-and-never-shown @must @needs:faults @readiness:58
  Scenario: A protected engine gets the key with list and chat, and nothing tells it
    Given an engine "one" that serves
    And engine "one" answers chat with 401 and body "{"error": {"message": "Incorrect API key: s3cret-key"}}"
    When a probe with the key "s3cret-key" asks engine "one"
    Then the verdict is misconfigured
    And every request to engine "one" carried the key "s3cret-key"
    And nothing tells the key "s3cret-key"

  @id:a-missing-route-is-named @must @needs:faults @readiness:14
  Scenario: A 404 without a word about a model names the route
    Given an embeddings engine "one"
    When a probe asks engine "one"
    Then the verdict is misconfigured
    And the verdict says "there is no route /v1/chat/completions; is the model of another kind"

  @id:another-model-loaded-is-named @must @needs:faults @readiness:15
  Scenario: A 404 that speaks of the model says that another one is loaded
    Given an engine "one" that serves
    And engine "one" answers chat with 404 and body "{"error": {"message": "The model `qwen` does not exist.", "code": 404}}"
    When a probe asks engine "one"
    Then the verdict is misconfigured
    And the verdict says "another model is loaded, not qwen"

  @id:busy-is-asked-at-its-retry-after @must @needs:faults @needs:clock @readiness:16
  Scenario: 429 with Retry-After 30 changes nothing and is asked again after 30 seconds
    Given an engine "one" that serves
    And engine "one" answers chat with 429 and retry-after 30 seconds for 1 request
    And a watch on engine "one"
    When the watch checks every 1 seconds for 29 seconds
    Then its status is running
    And engine "one" was probed 1 times
    When the watch checks once
    Then it became ready at 30 s

  @id:busy-keeps-a-latch @must @needs:faults @needs:clock @readiness:16
  Scenario: A ready engine that is busy for ten minutes stays ready
    Given an engine "one" that serves
    And a watch on engine "one"
    When the watch checks once
    And engine "one" answers chat with 429
    And the watch checks every 10 seconds for 600 seconds
    Then its changes were shown as running, ready

  @id:a-redirect-is-not-followed @must @needs:faults @readiness:17
  Scenario: A redirect to another host gets neither a request nor the key
    Given an engine "other" that serves
    And a raw engine "one" that answers chat with
      """
      HTTP/1.1 307 Temporary Redirect¶Location: {url of other}/v1/chat/completions¶Content-Length: 0¶¶
      """
    When a probe with the key "s3cret-key" asks engine "one"
    Then the verdict is misconfigured
    And the verdict says "a redirect, which is not followed"
    And nothing tells the key "s3cret-key"
    And engine "other" got 0 chat requests

  @id:an-error-in-a-200-is-no-answer @must @needs:faults @readiness:18
  Scenario Outline: A 200 whose body is the error <error> is <verdict>
    Given an engine "one" that serves
    And engine "one" answers chat with 200 and body "{"error": <error>}"
    When a probe asks engine "one"
    Then the verdict is <verdict>

    Examples:
      | error                               | verdict       |
      | {"message": "no such thing"}        | misconfigured |
      | {"message": "full", "code": 503}    | busy          |
      | "the model is scaling"              | misconfigured |

  @id:a-web-page-is-no-answer @must @needs:faults @readiness:19
  Scenario: A web page with a 200 is not an OpenAI reply
    Given an engine "one" that serves
    And engine "one" answers chat with 200 and body "<!doctype html><p>Welcome</p>"
    When a probe asks engine "one"
    Then the verdict is misconfigured
    And the verdict says "not an OpenAI reply"

  @id:an-interim-reply-is-passed-over @must @needs:faults @readiness:20 @rfc:9110-15.2
  Scenario: 100 and then 503 is judged by the 503
    Given a raw engine "one" that answers chat with
      """
      HTTP/1.1 100 Continue¶¶
      HTTP/1.1 503 Service Unavailable¶Content-Length: 0¶¶
      """
    When a probe asks engine "one"
    Then the verdict is busy
