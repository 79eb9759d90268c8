Feature: Mock engines treat connections and themselves exactly as named
  Connections that a pool keeps in vain, uploads that stand still, keys, crashes, and work that goes
  on for nobody.

  Background:
    Given an engine "one" that serves

  @id:engine-closes-an-idle-connection @must @needs:faults @needs:clock @case:B095
  Scenario Outline: closes a kept connection one second after an answer, and <gap> seconds pass
    When engine "one" closes the connection 1 second after chat
    And a JSON request is sent to engine "one" on connection "kept"
    Then the request succeeds
    And the connection was left open
    When <gap> seconds pass
    And a JSON request is sent to engine "one" on connection "kept"
    Then the answer is <end>

    Examples:
      | gap | end                      |
      | 0.9 | whole                    |
      | 1.1 | closed without answering |

  @id:engine-closes-right-after-the-answer @must @needs:faults @case:B095
  Scenario: closes a kept connection right after an answer that did not say so
    When engine "one" closes the connection after chat
    And a JSON request is sent to engine "one" on connection "kept"
    Then the request succeeds
    When 0.001 seconds pass
    And a JSON request is sent to engine "one" on connection "kept"
    Then the judge notes "closed before this request"

  @id:engine-ends-at-the-next-request @must @needs:faults @case:B095
  Scenario Outline: <fault>
    When engine "one" <fault>
    And a <kind> request is sent to engine "one" on connection "kept"
    Then the request succeeds
    When a JSON request is sent to engine "one" on connection "kept"
    Then the answer is <end>
    When a JSON request is sent to engine "one"
    Then the request succeeds

    Examples:
      | fault                                 | kind      | end                      |
      | closes on the next request after chat | JSON      | closed without answering |
      | closes on the next request after chat | streaming | closed without answering |
      | resets the next request after chat    | JSON      | reset                    |

  @id:engine-goes-silent @must @needs:faults @needs:clock
  Scenario: goes silent on a kept connection, and serves on another
    When engine "one" goes silent after chat
    And a JSON request is sent to engine "one" on connection "kept"
    Then the request succeeds
    When 60 seconds pass
    And a JSON request is sent to engine "one" on connection "kept"
    Then the answer is silent
    And the connection was left open
    When a JSON request is sent to engine "one"
    Then the request succeeds

  @id:engine-reads-slowly @must @needs:faults @needs:clock
  Scenario: reads ten bytes of the request each second
    When engine "one" reads chat 10 bytes every 1 second
    And a JSON request is sent to engine "one"
    Then the request succeeds
    And the head came after 10 seconds

  @id:engine-reads-slowly-in-a-phase @must @needs:faults @needs:clock
  Scenario: reads slowly for a phase
    Given an engine "slow" that serves for 60 seconds and reads chat 1 byte every 100 milliseconds
    When a JSON request is sent to engine "slow"
    Then the request succeeds
    And the head came after more than 10 seconds
    When it is 60 s
    And a JSON request is sent to engine "slow"
    Then the head came after 0 seconds

  @id:engine-needs-a-key @must @needs:faults @case:B085 @case:B112
  Scenario: needs a key for chat, and none for the rest
    When engine "one" needs the key "sesame" for chat
    And a JSON request is sent to engine "one"
    Then the answer has status 401
    And the answer carries the error "401"
    When a JSON request with the key "sesam" is sent to engine "one"
    Then the answer has status 401
    When a streaming request with the key "sesame" is sent to engine "one"
    Then the request succeeds
    When "GET /v1/models" is asked of engine "one" for 5 seconds
    Then the answer has status 200

  @id:engine-needs-a-key-on-some-paths @must @needs:faults @case:B085
  Scenario: needs a key for the listing, and none for health
    When engine "one" needs a key for the listing
    And "GET /v1/models" is asked of engine "one" for 5 seconds
    Then the answer has status 401
    When "GET /health" is asked of engine "one" for 5 seconds
    Then the answer has status 200

  @id:engine-crashes @must @needs:faults @needs:clock
  Scenario Outline: crashes <where>
    When engine "one" crashes <where>
    And a <kind> request is sent to engine "one"
    Then the answer is <end>
    When a JSON request is sent to engine "one"
    Then the answer is refused

    Examples:
      | where                              | kind      | end                      |
      | in chat                            | JSON      | closed without answering |
      | in chat with a reset               | JSON      | reset                    |
      | after 2 events of chat             | streaming | cut                      |
      | after 1 event of chat              | JSON      | cut                      |
      | after 1 event of chat with a reset | streaming | reset                    |

  @id:engine-crashes-for-everybody @must @needs:faults @needs:clock
  Scenario: A crash ends every answer that is on its way, and the engine comes back
    When engine "one" waits 1 second between the tokens of chat
    And a streaming request "other" is on its way
    And 2 seconds pass
    And engine "one" crashes in chat, back after 5 seconds for 1 request
    And a JSON request is sent to engine "one"
    Then the answer is closed without answering
    And the answer to request "other" is cut
    When it is 6.9 s
    And a JSON request is sent to engine "one"
    Then the answer is refused
    When it is 8 s
    And a JSON request is sent to engine "one"
    Then the request succeeds

  @id:engine-loses-its-scheduler @must @needs:faults @needs:clock
  Scenario: loses its scheduler: every answer hangs, health and listing say that all is well
    When engine "one" waits 1 second between the tokens of chat
    And a streaming request "other" is on its way
    And 3.5 seconds pass
    And engine "one" loses its scheduler in chat for 1 request
    And a JSON request is sent to engine "one" by a client that waits 20 seconds
    Then the answer is silent
    When "GET /health" is asked of engine "one" for 5 seconds
    Then the answer has status 200
    When "GET /v1/models" is asked of engine "one" for 5 seconds
    Then the answer has status 200
    When a JSON request is sent to engine "one" by a client that waits 20 seconds
    Then the answer is silent
    When request "other" is answered
    Then the answer is unfinished
    And 5 events came
    When the process of engine "one" starts again
    And a JSON request is sent to engine "one"
    Then the request succeeds

  @id:engine-loses-its-scheduler-in-mid-stream @must @needs:faults @needs:clock
  Scenario: loses its scheduler after two events of a stream
    When engine "one" loses its scheduler after 2 events of chat
    And a streaming request is sent to engine "one"
    Then the answer is unfinished
    And 2 events came

  @id:engine-outlives-its-client @must @needs:faults @needs:clock @case:B047
  Scenario Outline: goes on with a <kind> answer after its client left
    When engine "one" goes on with chat after its client left and <pace> chat
    And a <kind> request is sent and its client leaves after 2.5 seconds
    And 60 seconds pass
    Then engine "one" made <count> tokens after its client left

    Examples:
      | kind      | pace                                 | count |
      | streaming | waits 1 second between the tokens of | 5     |
      | JSON      | waits 9 seconds before answering     | 8     |

  @id:engine-notices-that-its-client-left @must @needs:faults @needs:clock @case:B047
  Scenario: Without that fault generation stops when the client leaves
    When engine "one" waits 1 second between the tokens of chat
    And a streaming request is sent and its client leaves after 2.5 seconds
    And 60 seconds pass
    Then engine "one" made 0 tokens after its client left

  @id:engine-takes-aborts @must @needs:faults @needs:clock @case:B047
  Scenario: takes an abort, which ends what goes on for nobody
    When engine "one" takes aborts on "POST /abort_request"
    And engine "one" goes on with chat after its client left and waits 1 second between the tokens of chat
    And a streaming request with the id "r1" is sent to engine "one" and its client leaves after 2.5 seconds
    And 2 seconds pass
    And the request with the id "other" is aborted at engine "one"
    Then the answer has status 200
    When 1 seconds pass
    And the request with the id "r1" is aborted at engine "one"
    And 60 seconds pass
    Then engine "one" made 3 tokens after its client left
