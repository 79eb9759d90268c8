Feature: Mock engines misbehave exactly as named
  Every fault and every phase has one name, and it is what the client sees. The judge, an honest
  client that shares no HTTP code with the engines, says what really arrived.

  Background:
    Given an engine "one" that serves

  @id:engine-serves @must @needs:faults
  Scenario Outline: An honest engine answers a <kind> request whole
    When a <kind> request is sent to engine "one"
    Then the request succeeds
    And the framing is without fault

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:engine-answers-status @must @needs:faults
  Scenario Outline: answers <status>
    When engine "one" answers chat with <status> for 1 request
    And a <kind> request is sent to engine "one"
    Then the answer has status <status>
    When a <kind> request is sent to engine "one"
    Then the request succeeds

    Examples:
      | status | kind      |
      | 400    | JSON      |
      | 429    | streaming |
      | 500    | JSON      |
      | 503    | streaming |

  @id:engine-answers-with-retry-after @must @needs:faults
  Scenario: answers 503 and says when to come back
    When engine "one" answers chat with 503 and retry-after 2 seconds
    And a JSON request is sent to engine "one"
    Then the answer has status 503
    And the answer has header "Retry-After" with "2"

  @id:engine-answers-for-a-time @must @needs:faults @needs:clock
  Scenario: answers 503 for 8 seconds, to the nanosecond
    When engine "one" answers chat with 503 for 8 seconds
    And it is 7.999999999 s
    And a JSON request is sent to engine "one"
    Then the answer has status 503
    When it is 8 s
    And a JSON request is sent to engine "one"
    Then the request succeeds

  @id:engine-never-answers @must @needs:faults @needs:clock
  Scenario: never answers
    When engine "one" never answers chat
    And a JSON request is sent and its client leaves after 300 seconds
    Then the answer is silent
    And the answer took 300 seconds
    And engine "one" saw its client leave after 300 seconds

  @id:engine-waits-before-head @must @needs:faults @needs:clock
  Scenario: waits before the head
    When engine "one" waits 5 seconds before answering chat
    And a JSON request is sent to engine "one"
    Then the request succeeds
    And the head came after 5 seconds

  @id:engine-waits-before-first-token @must @needs:faults @needs:clock
  Scenario: waits before the first token
    When engine "one" waits 5 seconds before the first token of chat
    And a streaming request is sent to engine "one"
    Then the request succeeds
    And the head came after 0 seconds
    And the answer took 5 seconds

  @id:engine-waits-between-tokens @must @needs:faults @needs:clock
  Scenario: waits between tokens
    When engine "one" waits 2 seconds between the tokens of chat
    And a streaming request is sent to engine "one"
    Then the request succeeds
    And the answer took 14 seconds

  @id:engine-answers-without-closing @must @needs:faults @needs:clock
  Scenario Outline: answers without closing, <framing>
    When engine "one" answers chat without closing, <framing>
    And a JSON request is sent and its client leaves after 60 seconds
    Then the answer is <end>
    And the connection was left open

    Examples:
      | framing          | end        |
      | framed by length | whole      |
      | framed by chunks | whole      |
      | unframed         | unfinished |

  @id:engine-dribbles-the-body @must @needs:faults @needs:clock
  Scenario: dribbles the body
    When engine "one" dribbles the body of chat 100 bytes every 3 seconds
    And a JSON request is sent to engine "one"
    Then the request succeeds
    And the body came in pieces of 100 bytes, 3 seconds apart

  @id:engine-dribbles-the-head @must @needs:faults @needs:clock
  Scenario: dribbles the head
    When engine "one" dribbles the head of chat 1 byte every 1 second
    And a JSON request is sent to engine "one" by a client that waits 600 seconds
    Then the request succeeds
    And the head came after more than 100 seconds

  @id:engine-dribbles-without-end @must @needs:faults @needs:clock
  Scenario Outline: dribbles <what> of a <kind> answer without end
    When engine "one" dribbles <what> 1 byte every 0.5 seconds without end
    And a <kind> request is sent and its client leaves after 600 seconds
    Then the answer is unfinished

    Examples:
      | what             | kind      |
      | the body of chat | JSON      |
      | the body of chat | streaming |
      | the head of chat | JSON      |

  @id:engine-truncates @must @needs:faults @needs:clock
  Scenario Outline: truncates <kind> answers after <where>
    When engine "one" truncates chat after <where>
    And a <kind> request is sent to engine "one"
    Then the answer is <end>

    Examples:
      | where                      | kind      | end                      |
      | 0 bytes                    | JSON      | cut                      |
      | 10 bytes                   | JSON      | cut                      |
      | 10 bytes                   | streaming | cut                      |
      | 10 bytes with a reset      | JSON      | reset                    |
      | 20 bytes of the wire       | JSON      | cut                      |
      | 2 events                   | streaming | cut                      |
      | 2 events with a reset      | streaming | reset                    |

  @id:engine-truncates-after-events @must @needs:faults
  Scenario: truncates after two events, not before and not later
    When engine "one" truncates chat after 2 events
    And a streaming request is sent to engine "one"
    Then 2 events came
    And the stream does not say [DONE]

  @id:engine-truncates-after-seconds @must @needs:faults @needs:clock
  Scenario: truncates after three seconds of tokens
    When engine "one" waits 1 second between the tokens of chat and truncates chat after 3 seconds
    And a streaming request is sent to engine "one"
    Then the answer is cut
    And the answer took 3 seconds

  @id:engine-closes-without-answering @must @needs:faults
  Scenario: closes without answering
    When engine "one" closes chat without answering
    And a JSON request is sent to engine "one"
    Then the answer is closed without answering

  @id:engine-resets @must @needs:faults
  Scenario: resets
    When engine "one" resets chat
    And a JSON request is sent to engine "one"
    Then the answer is reset

  @id:engine-sends-an-error-event @must @needs:faults
  Scenario: sends an error event in a stream of status 200
    When engine "one" sends an error event 503 in chat after 1 event
    And a streaming request is sent to engine "one"
    Then the answer has status 200
    And the answer carries the error "503"
    And the stream says [DONE]

  @id:engine-omits-done @must @needs:faults
  Scenario: ends a stream without [DONE]
    When engine "one" ends chat without [DONE]
    And a streaming request is sent to engine "one"
    Then the answer is whole
    And the stream does not say [DONE]

  @id:engine-refuses-then-serves @must @needs:faults @needs:clock
  Scenario: refuses, then binds to the nanosecond
    Given an engine "late" that refuses for 12 seconds
    When it is 11.999999999 s
    And a JSON request is sent to engine "late"
    Then the answer is refused
    When it is 12 s
    And a JSON request is sent to engine "late"
    Then the request succeeds

  @id:engine-accepts @must @needs:faults @needs:clock
  Scenario: accepting: connects, never answers
    Given an engine "deaf" that accepts and never answers for 60 seconds
    When "GET /health" is asked of engine "deaf" for 20 seconds
    Then the answer is silent
    When it is 61 s
    And a JSON request is sent to engine "deaf"
    Then the request succeeds

  @id:engine-phases-answer @must @needs:faults @needs:clock
  Scenario Outline: <life>: health <health>, listing <listing>, chat <chat>
    Given an engine "other" that <life>
    When "GET /health" is asked of engine "other" for 5 seconds
    Then the answer has status <health>
    When "GET /v1/models" is asked of engine "other" for 5 seconds
    Then the answer has status <listing>
    When a JSON request is sent to engine "other"
    Then the answer has status <chat>

    Examples:
      | life                                    | health | listing | chat |
      | loads                                   | 200    | 200     | 503  |
      | loads and answers health with 503       | 503    | 200     | 503  |
      | loads and answers the listing with 404  | 200    | 404     | 503  |
      | is busy                                 | 200    | 200     | 503  |
      | drains                                  | 200    | 200     | 503  |
      | serves and answers health with 500      | 500    | 200     | 200  |

  @id:engine-listed-but-not-serving @must @needs:faults @needs:clock
  Scenario: loading: listed, healthy, and silent on chat
    Given an engine "loading" that loads for 352 seconds and never answers chat
    When "GET /v1/models" is asked of engine "loading" for 5 seconds
    Then the answer has status 200
    When a JSON request is sent to engine "loading" by a client that waits 60 seconds
    Then the answer is silent
    When it is 352 s
    And a JSON request is sent to engine "loading"
    Then the request succeeds

  @id:engine-sleeps @must @needs:faults @needs:clock @needs:sleep
  Scenario: sleeping: healthy, listed, and silent until it wakes
    Given an engine "asleep" that sleeps for 30 seconds
    When "GET /health" is asked of engine "asleep" for 5 seconds
    Then the answer has status 200
    When a JSON request is sent to engine "asleep"
    Then the request succeeds
    And the answer took 30 seconds

  @id:engine-dies @must @needs:faults @needs:restart
  Scenario: dies, refuses, and comes back on its own port
    When the process of engine "one" dies
    And a JSON request is sent to engine "one"
    Then the answer is refused
    When the process of engine "one" starts again
    And a JSON request is sent to engine "one"
    Then the request succeeds

  @id:engine-dies-in-mid-answer @must @needs:faults @needs:clock @needs:restart
  Scenario: dies in the middle of an answer
    When engine "one" waits 1 second between the tokens of chat
    And a streaming request "open" is on its way
    And 3 seconds pass
    And the process of engine "one" dies
    And request "open" is answered
    Then the answer is cut

  @id:engine-holds @must @needs:faults
  Scenario: holds an answer until it is released
    When hold "first token" of engine "one" is set
    And a streaming request "parked" is on its way
    And 1 answers wait at hold "first token" of engine "one"
    And hold "first token" of engine "one" is released
    And request "parked" is answered
    Then the request succeeds

  @id:engine-says-who-it-is @must @needs:faults
  Scenario: An answer says which engine gave it
    When a JSON request is sent to engine "one"
    Then the answer names engine "one"
