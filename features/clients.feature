Feature: An engine tells what is wrong with its client
  A client that is refused waits, longer each time, and as long as it was told; it sends nothing again
  that was called wrong; and what was cut off is not an answer. An engine's journal proves when a
  client does otherwise, and only then. Point your own client at a mock engine and ask the same.

  Background:
    Given an engine "one" that serves

  @id:client-behaves @must @needs:faults @needs:clock
  Scenario Outline: A client that behaves is not blamed: <does>
    When engine "one" <does>
    And a client that behaves asks engine "one"
    Then engine "one" finds no fault with its client
    And engine "one" got <requests> chat requests

    Examples:
      | does                                                           | requests |
      | answers chat with 503 for 5 requests                           | 6        |
      | answers chat with 503 and retry-after 2 seconds for 3 requests | 4        |
      | answers chat with 429 and retry-after 1 second for 2 requests  | 3        |
      | answers chat with 408 for 2 requests                           | 3        |
      | answers chat with 400                                          | 1        |
      | resets chat for 3 requests                                     | 4        |
      | truncates chat after 10 bytes once                             | 2        |

  @id:client-ignores-retry-after @must @needs:faults @needs:clock
  Scenario Outline: It was told to come back in 2 seconds, and came sooner: <status>
    When engine "one" answers chat with <status> and retry-after 2 seconds for 1 request
    And a client that ignores Retry-After asks engine "one"
    Then engine "one" finds that its client ignored Retry-After

    Examples:
      | status |
      | 429    |
      | 503    |

  @id:client-never-backs-off @must @needs:faults @needs:clock
  Scenario: It asks at one pace, however often it is refused
    When engine "one" answers chat with 503 for 3 requests
    And a client that never backs off asks engine "one"
    Then engine "one" finds that its client did not back off

  @id:client-refused-twice-proves-nothing @must @needs:faults @needs:clock
  Scenario: Two waits of one length prove nothing
    When engine "one" answers chat with 503 for 2 requests
    And a client that never backs off asks engine "one"
    Then engine "one" finds no fault with its client

  @id:client-makes-a-storm @must @needs:faults @needs:clock
  Scenario Outline: It asks again at once, and again: <does>
    When engine "one" <does> for 8 requests
    And a client that retries at once asks engine "one"
    Then engine "one" finds that its client made a retry storm
    And engine "one" finds that its client did not back off

    Examples:
      | does                  |
      | answers chat with 500 |
      | resets chat           |

  @id:client-retries-a-4xx @must @needs:faults @needs:clock
  Scenario Outline: It was told <status> and sends the same again
    When engine "one" answers chat with <status> for 1 request
    And a client that retries a 4xx asks engine "one"
    Then engine "one" finds that its client retried a 4xx

    Examples:
      | status |
      | 400    |
      | 404    |
      | 422    |

  @id:client-trusts-a-cut-stream @must @needs:faults @needs:clock
  Scenario Outline: It goes on with what came of a cut stream: <does>
    When engine "one" <does> once
    And a client that trusts cut streams holds a conversation of 2 turns with engine "one"
    Then engine "one" finds that its client took a cut stream for whole

    Examples:
      | does                                     |
      | truncates chat after 4 events            |
      | truncates chat after 4 events with a reset |

  @id:client-asks-again-after-a-cut @must @needs:faults @needs:clock
  Scenario: A client that asks again after a cut, and goes on with the whole answer, is not blamed
    When engine "one" truncates chat after 4 events once
    And a client that behaves holds a conversation of 3 turns with engine "one"
    Then engine "one" finds no fault with its client

  @id:client-crowd-is-no-storm @must @needs:faults
  Scenario: A crowd that asks the same at once is no client that retries
    When engine "one" answers chat with 503 for 20 requests
    And 20 JSON requests are sent at once
    Then engine "one" finds no fault with its client
