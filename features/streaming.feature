Feature: A stream passes as it comes, and ends as it ended
  Events reach the client one by one, byte for byte. When the engine dies in the middle, the client
  gets what came and then a cut: no clean end, no `[DONE]` that nobody said, no event of the router's
  own. When the client leaves, the engine hears of it at once, also while it says nothing.

  Background:
    Given an engine "sole" that serves

  @id:stream-piece-by-piece @must @needs:stream @needs:faults @needs:clock @case:B050
  Scenario: Nothing is held back: each piece is with the client before the next one is made
    Given the router in front of all engines
    And the router is ready
    When engine "sole" dribbles the body of chat 100 bytes every 3 seconds
    And a streaming request is sent and its client leaves after 3600 seconds
    Then the request succeeds
    And the head came after 0 seconds
    And the body came piece by piece, 3 seconds apart

  @id:stream-cut-stays-a-cut @must @needs:stream @needs:faults @case:B032 @case:B034 @case:B035
  Scenario Outline: The engine <does>: they arrive, then the failure shows
    Given the router in front of all engines
    And the router is ready
    When engine "sole" <does>
    And a streaming request is sent
    Then the stream does not say [DONE]
    And the failure is visible
    And 3 events came before the cut
    And engine "sole" got 1 requests from clients

    Examples:
      | does                                       |
      | truncates chat after 3 events              |
      | truncates chat after 3 events with a reset |

  @id:stream-crash-stays-a-cut @must @needs:stream @needs:faults @needs:restart
  Scenario: The engine's process dies in the middle of a stream
    Given the router in front of all engines
    And the router is ready
    When engine "sole" crashes after 3 events of chat
    And a streaming request is sent
    Then the stream does not say [DONE]
    And the failure is visible
    And 3 events came before the cut

  @id:stream-cut-before-the-first-event @must @needs:stream @needs:faults @case:B031 @case:B037
  Scenario Outline: The engine <does> of a <kind> answer: that is no empty success
    Given the router in front of all engines
    And the router is ready
    When engine "sole" <does>
    And a <kind> request is sent
    Then the failure is visible
    And 0 events came

    Examples:
      | kind      | does                                      |
      | streaming | truncates chat after 0 bytes              |
      | streaming | truncates chat after 0 bytes with a reset |
      | JSON      | truncates chat after 0 bytes              |
      | JSON      | truncates chat after 0 bytes with a reset |

  @id:stream-without-an-event @must @needs:stream @needs:faults @needs:gateway-errors @case:B052
  Scenario: A stream that ends well and says nothing is a failure that shows
    Given the router in front of all engines
    And the router is ready
    When engine "sole" answers chat with nothing
    And a streaming request is sent
    Then the failure is visible

  @id:stream-falls-silent @must @needs:stream @needs:faults @needs:clock @case:B032 @case:B049
  Scenario: A stream that falls silent is cut after the idle time, and the slot is free
    Given the router in front of all engines, set to
      | stream_idle_timeout_secs | 30 |
    And the router is ready
    When engine "sole" stalls chat after 3 events
    And a streaming request is sent
    Then 3 events came
    And the failure is visible
    And the stream does not say [DONE]
    And engine "sole" saw its client leave after 30 seconds

  @id:stream-silence-is-counted @should @needs:stream @needs:faults @needs:clock @bundled @case:B032 @case:B049
  Scenario: Silence is told from a cut, and both from a stream that is well
    Given the router in front of all engines, set to
      | stream_idle_timeout_secs | 30 |
    And the router is ready
    When engine "sole" stalls chat after 3 events for 1 request
    And a streaming request is sent
    And engine "sole" truncates chat after 3 events for 1 request
    And a streaming request is sent
    And a streaming request is sent
    Then the request succeeds
    And the router counted 1 streams as "idle_timeout"
    And the router counted 1 streams as "upstream_error"
    And the router counted 1 streams as "ok"
    And the router counted for engine "sole"
      | success | 1 |
      | error   | 2 |

  @id:stream-silent-after-an-error @must @needs:stream @needs:faults @needs:clock @case:B041
  Scenario: A stream that stays open after its error event ends after the idle time
    Given the router in front of all engines, set to
      | stream_idle_timeout_secs | 30 |
    And the router is ready
    When engine "sole" sends an error event 500 in chat after 1 event and stalls chat after 2 events
    And a streaming request is sent
    Then 2 events came
    And the failure is visible
    And engine "sole" saw its client leave after 30 seconds

  @id:stream-idle-is-per-piece @must @needs:stream @needs:faults @needs:clock @case:B094
  Scenario: A stream that moves all the time is never cut, however long it takes
    Given the router in front of all engines, set to
      | stream_idle_timeout_secs | 30 |
    And the router is ready
    When engine "sole" dribbles the body of chat 130 bytes every 20 seconds
    And a streaming request is sent and its client leaves after 3600 seconds
    Then the request succeeds

  @id:stream-total-time @should @needs:stream @needs:faults @needs:clock @bundled
  Scenario: A limit on the whole request cuts what moves, where somebody asked for one
    Given the router in front of all engines, set to
      | total_timeout_secs | 50 |
    And the router is ready
    When engine "sole" dribbles the body of chat 100 bytes every 20 seconds
    And a streaming request is sent
    Then the answer is cut
    And the answer took 50 seconds
    When engine "sole" never answers chat
    And a JSON request is sent
    Then the answer has status 504
    And the answer took 50 seconds

  @id:stream-odd-but-honest @must @needs:stream @needs:faults @case:B116 @case:B119
  Scenario Outline: A stream is passed byte for byte where the engine <does>
    Given the router in front of all engines
    And the router is ready
    When engine "sole" <does>
    And a streaming request is sent
    Then the answer is whole
    And <what>

    Examples:
      | does                                             | what                                         |
      | ends the lines of chat with CR                   | the line ends of the stream are CR           |
      | ends the lines of chat with CRLF                 | the line ends of the stream are CRLF         |
      | ends the lines of chat with CR, LF, CRLF in turn | the line ends of the stream are CR, LF, CRLF |
      | sends chat without a space after the colon       | 0 lines of the stream begin with "data: "    |
      | begins the stream of chat with a BOM             | the body begins with the bytes EF BB BF      |
      | sends the body of chat in pieces of 1 byte       | the request succeeds                         |
      | ends chat without [DONE]                         | the stream does not say [DONE]               |
      | says [DONE] twice in chat                        | the stream says [DONE] 2 times               |
      | answers chat with half its JSON                  | 1 events are no JSON                         |
      | answers chat with bad UTF-8                      | the body is no UTF-8                         |

  @id:stream-error-event-passes @must @needs:stream @needs:faults @case:B040 @case:B145
  Scenario: An error event in a 200 passes unchanged
    Given the router in front of all engines
    And the router is ready
    When engine "sole" sends an error event 502 in chat
    And a streaming request is sent
    Then the answer is whole
    And the answer carries the error "502"

  @id:stream-error-field @should @needs:stream @needs:faults @bundled @case:B044
  Scenario: An error in a field of its own passes unchanged, and counts as an error
    Given the router in front of all engines
    And the router is ready
    When engine "sole" sends an error field 500 in chat
    And a streaming request is sent
    Then the answer is whole
    And 1 lines of the stream begin with "error:"
    And the router counted 1 streams as "stream_error_event"
    And the router counted for engine "sole"
      | error | 1 |

  @id:stream-done-twice @should @needs:stream @needs:faults @bundled @case:B146
  Scenario: A stream that ends twice passes unchanged, and is counted by its own name
    Given the router in front of all engines
    And the router is ready
    When engine "sole" says [DONE] twice in chat for 1 request
    And 2 streaming requests are sent one after another
    Then every answer has status 200
    And the router counted 1 streams as "protocol_violation"
    And the router counted 1 streams as "ok"

  @id:stream-refused-before-it-began @must @needs:stream @needs:faults @case:B043
  Scenario: A stream request that is refused gets the engine's status and its JSON, not a stream
    Given the router in front of all engines
    And the router is ready
    When engine "sole" answers chat with 400
    And a streaming request is sent
    Then the answer has status 400
    And the answer has header "content-type" with "application/json"

  @id:leaver-is-seen @must @needs:stream @needs:faults @needs:clock @case:B046 @case:B047
  Scenario Outline: A client of a <kind> answer leaves while the engine <does>: the engine hears of it at once
    Given the router in front of all engines
    And the router is ready
    When engine "sole" <does>
    And a <kind> request is sent and its client leaves after 3 seconds
    Then engine "sole" saw its client leave after 3 seconds

    Examples:
      | kind      | does                       |
      | JSON      | never answers chat         |
      | streaming | never answers chat         |
      | streaming | stalls chat after 0 events |
      | streaming | stalls chat after 2 events |

  @id:leaver-is-no-verdict @must @needs:stream @needs:faults @needs:clock @bundled @case:B053
  Scenario: Clients that leave say nothing of the engine
    Given the router in front of all engines
    And the router is ready
    When engine "sole" stalls chat after 2 events
    And 20 streaming requests are sent and their clients leave after 3 seconds
    Then the breaker of engine "sole" is closed
    And the router counted 20 streams as "client_disconnect"
    And the router counted for engine "sole"
      | cancelled | 20 |

  @id:leaver-is-told @should @needs:faults @needs:clock @bundled @case:B047
  Scenario: An engine that goes on without its client is told to stop
    Given the router in front of all engines, set to
      | abort_path | /abort_request |
    And the router is ready
    When engine "sole" dribbles chat and goes on with chat after its client left
    And engine "sole" takes aborts on "POST /abort_request"
    And a JSON request is sent and its client leaves after 3 seconds
    And 1 seconds pass
    Then engine "sole" was asked 1 times for "POST /abort_request"
    And engine "sole" made 0 tokens after its client left
