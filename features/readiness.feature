Feature: Ready means that a request sent now is answered
  An engine lists its model while the weights still load. Whoever takes the listing for readiness
  sends users to an engine that cannot answer. Readiness is a completed inference, never a listing.

  @id:ready-service-serves @must @needs:listing @needs:chat
  Scenario: A service reported ready can immediately serve inference
    Given an engine "service" that serves
    When the service on engine "service" is reported ready
    Then engine "service" lists the model
    When a JSON request is sent to engine "service"
    Then the request succeeds within 1 seconds

  @id:ready-service-serves-through-the-router @must @needs:listing @needs:chat
  Scenario: A router that says it is ready answers the first request
    Given an engine "service" that serves
    And the router in front of all engines
    When the router is ready
    And a JSON request is sent
    Then the request succeeds

  @id:ready-service-streams-through-the-router @must @needs:listing @needs:stream
  Scenario: A router that says it is ready answers a stream to its end
    Given an engine "service" that serves
    And the router in front of all engines
    When the router is ready
    And a streaming request is sent
    Then the request succeeds
    And the answer is whole

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

  @id:listed-is-not-ready @must @needs:faults @needs:clock @readiness:1 @readiness:4
  Scenario: Listed at 4 seconds and answering at 364 seconds
    Given an engine "slow" that refuses for 4 seconds, then loads for 360 seconds and never answers chat, then serves
    And a watch on engine "slow"
    When the watch checks every 5 seconds for 400 seconds
    Then it became running at 5 s
    And it became ready at 365 s
    And it was never failed
    And engine "slow" was never probed twice within 15 seconds

  @id:a-pass-is-not-repeated @must @needs:faults @needs:clock @readiness:33
  Scenario: Ready once, then only listings
    Given an engine "fine" that serves
    And a watch on engine "fine"
    When the watch checks every 5 seconds for 30 seconds
    Then engine "fine" saw exactly
      """
      0 s GET /v1/models 200
      0 s POST /v1/chat/completions 200
      5 s GET /v1/models 200
      10 s GET /v1/models 200
      15 s GET /v1/models 200
      20 s GET /v1/models 200
      25 s GET /v1/models 200
      30 s GET /v1/models 200
      """

  @id:evidence-expires @should @needs:faults @needs:clock @readiness:38
  Scenario: After 300 seconds one probe renews the evidence
    Given an engine "fine" that serves
    And a watch on engine "fine"
    When the watch checks every 100 seconds for 400 seconds
    Then engine "fine" got 2 chat requests

  @id:user-traffic-renews-evidence @should @needs:faults @needs:clock @readiness:39
  Scenario: Answered user traffic renews the evidence for free
    Given an engine "fine" that serves
    And a watch on engine "fine"
    When the watch checks every 100 seconds for 200 seconds
    And a user's request is answered
    And the watch checks every 100 seconds for 200 seconds
    Then engine "fine" got 1 chat requests

  @id:probe-sequence-of-a-loading-engine @must @needs:faults @needs:clock @readiness:1
  Scenario: The exact requests of a short load
    Given an engine "slow" that refuses for 4 seconds, then loads for 26 seconds and never answers chat, then serves
    And a watch on engine "slow"
    When the watch checks every 5 seconds for 40 seconds
    Then it became ready at 35 s
    And engine "slow" saw exactly
      """
      5 s GET /v1/models 200
      5 s POST /v1/chat/completions …
      15 s GET /v1/models 200
      20 s GET /v1/models 200
      20 s POST /v1/chat/completions …
      30 s GET /v1/models 200
      35 s GET /v1/models 200
      35 s POST /v1/chat/completions 200
      40 s GET /v1/models 200
      """

  @id:accept-rule-proven @must @needs:faults
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

  @id:held-open-socket-is-not-waited-for @must @needs:faults @needs:clock @readiness:22
  Scenario: An answer without a close is accepted at once
    Given an engine "one" that serves
    And engine "one" answers chat without closing
    When a probe asks engine "one"
    Then the verdict is serving
    And the probe took 0 seconds

  @id:endless-dribble-ends-at-the-deadline @must @needs:faults @needs:clock @readiness:23
  Scenario: An endless dribble ends at the deadline
    Given an engine "one" that serves
    And engine "one" dribbles chat 1 byte every 0.5 seconds without end
    When a probe asks engine "one"
    Then the verdict is listing
    And the probe took 8 seconds

  @id:hung-accept-ends-at-the-deadline @must @needs:faults @needs:clock @readiness:24
  Scenario: An engine that accepts and stays silent ends at the deadline
    Given an engine "one" that accepts and never answers
    When a probe asks engine "one"
    Then the verdict is broken
    And the probe took 8 seconds

  @id:refused-is-unreachable @must @needs:faults
  Scenario: A refused port is unreachable at once
    Given an engine "one" that refuses
    When a probe asks engine "one"
    Then the verdict is unreachable
