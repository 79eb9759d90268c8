Feature: A request is tried again where that cannot do harm
  An engine that refuses, or says "not now", has not begun: another one is asked at once, and the
  client sees nothing of it. An engine that may have begun is not asked to do the work twice, and
  nothing is tried again once a byte of an answer was relayed. Nobody is asked twice for one request,
  unless it said itself when to come back.

  @id:retry-a-refused-connect @must @needs:faults @needs:restart @needs:clock @case:B089
  Scenario Outline: One of two engines is gone: every <kind> request is answered by the other
    Given 2 engines that serve
    And the router in front of all engines
    And the router is ready
    When 1 seconds pass
    And the process of engine "e00" dies
    And 10 <kind> requests are sent one after another
    Then every request succeeds
    And engine "e01" got 10 requests from clients

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:retry-backpressure-elsewhere @must @needs:faults @needs:retries @case:B022 @case:B023
  Scenario Outline: An engine that answers a <kind> request with <status> is passed over at once
    Given 2 engines that serve
    And the router in front of all engines
    And the router is ready
    When engine "e00" answers chat with <status>
    And 4 <kind> requests are sent one after another
    Then every request succeeds

    Examples:
      | status | kind      |
      | 429    | JSON      |
      | 503    | JSON      |
      | 503    | streaming |

  @id:retry-529-elsewhere @should @needs:faults @bundled @case:B022
  Scenario: 529 is backpressure too, though no standard knows it
    Given 2 engines that serve
    And the router in front of all engines
    And the router is ready
    When engine "e00" answers chat with 529
    And 4 JSON requests are sent one after another
    Then every request succeeds
    And the breaker of engine "e00" is closed

  @id:retry-pauses-grow @should @needs:faults @needs:clock @bundled @case:B019
  Scenario: The first retry goes out at once, later ones wait, and everybody is asked once
    Given 4 engines that serve
    And the router in front of all engines, set to
      | retry_jitter_factor | 0 |
    And the router is ready
    When 1 seconds pass
    And engine "e00" answers chat with 429
    And engine "e01" answers chat with 429
    And engine "e02" answers chat with 429
    And engine "e03" answers chat with 429
    And a JSON request is sent
    Then the answer has status 429
    And the answer took 0.125 seconds
    And the answer has header "x-staticfire-attempts" with "4"
    And engine "e00" got 1 requests from clients
    And engine "e01" got 1 requests from clients
    And engine "e02" got 1 requests from clients
    And engine "e03" got 1 requests from clients

  @id:retry-tries-are-limited @should @needs:faults @bundled
  Scenario Outline: <tries> attempts are <asked>
    Given 4 engines that serve
    And the router in front of all engines, set to
      | <setting> | <tries> |
    And the router is ready
    When engine "e00" answers chat with 503
    And engine "e01" answers chat with 503
    And engine "e02" answers chat with 503
    And engine "e03" answers chat with 503
    And a JSON request is sent
    Then the answer has status 503
    And the answer has header "x-staticfire-attempts" with "<asked>"

    Examples:
      | setting           | tries | asked |
      | retry_max_retries | 3     | 3     |
      | retry_max_retries | 1     | 1     |
      | retry_max_retries | 0     | 1     |
      | disable_retries   | yes   | 1     |

  @id:retry-after-is-waited-out @should @needs:faults @needs:clock @bundled
  Scenario: A sole engine that says when to come back is asked again then, and not before
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" answers chat with 503 and retry-after 1 second for 1 request
    And a JSON request is sent
    Then the request succeeds
    And the answer took 1 seconds
    And engine "sole" got 2 requests from clients

  @id:retry-after-over-the-cap @must @needs:faults @needs:clock
  Scenario: A Retry-After that is too long to wait for reaches the client at once
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" answers chat with 503 and retry-after 7 seconds
    And a JSON request is sent
    Then the answer has status 503
    And the answer has header "Retry-After" with "7"
    And the answer took 0 seconds
    And engine "sole" got 1 requests from clients

  @id:no-retry-of-a-timeout @must @needs:faults @needs:clock @needs:gateway-errors @case:B028
  Scenario: An engine that does not answer in time may have begun: 504, and nobody else is asked
    Given 2 engines that serve
    And the router in front of all engines, set to
      | request_timeout_secs | 30 |
    And the router is ready
    When engine "e00" never answers chat
    And engine "e01" never answers chat
    And a JSON request is sent
    Then the answer has status 504
    And the answer took 30 seconds
    And 1 requests reached the engines

  @id:no-retry-of-what-may-have-begun @must @needs:faults @needs:restart
  Scenario Outline: An engine that <does> may have begun: nobody else is asked
    Given 2 engines that serve
    And the router in front of all engines
    And the router is ready
    When engine "e00" <does>
    And engine "e01" <does>
    And a <kind> request is sent
    Then the failure is visible
    And 1 requests reached the engines

    Examples:
      | does                              | kind      |
      | closes chat without answering     | JSON      |
      | answers chat with 500             | JSON      |
      | answers chat with 502             | streaming |
      | resets chat                       | streaming |
      | crashes in chat                   | JSON      |
      | truncates chat after 10 bytes     | JSON      |
      | truncates chat after 2 events     | streaming |
      | begins chat with the line "HELLO" | JSON      |

  @id:retry-what-may-have-begun-if-asked @should @needs:faults @needs:clock @bundled
  Scenario Outline: Where work may be done twice, an engine that <does> is followed by another one
    Given 2 engines that serve
    And the router in front of all engines, set to
      | retry_begun          | yes |
      | request_timeout_secs | 30  |
    And the router is ready
    When engine "e00" <does>
    And 2 JSON requests are sent one after another
    Then every request succeeds

    Examples:
      | does                          |
      | answers chat with 500         |
      | closes chat without answering |
      | resets chat                   |
      | never answers chat            |
      | truncates chat after 10 bytes |

  @id:no-retry-after-the-first-byte @must @needs:stream @needs:faults
  Scenario: What was begun with the client is not begun again, whatever was asked for
    Given 2 engines that serve
    And the router in front of all engines, set to
      | retry_begun | yes |
    And the router is ready
    When engine "e00" truncates chat after 2 events
    And engine "e01" truncates chat after 2 events
    And a streaming request is sent
    Then 2 events came
    And the answer is cut
    And 1 requests reached the engines

  @id:no-retry-of-a-clients-fault @must @needs:faults @case:B002
  Scenario: What is the client's fault is not tried elsewhere
    Given 2 engines that serve
    And the router in front of all engines
    And the router is ready
    When engine "e00" answers chat with 400
    And engine "e01" answers chat with 400
    And 10 JSON requests are sent one after another
    Then every answer has status 400
    And 10 requests reached the engines

  @id:stale-connection-is-replaced @must @needs:faults @needs:clock @case:B095
  Scenario Outline: An engine that <does> is asked on a fresh connection, and the client sees nothing of it
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" <does>
    And a <kind> request is sent every <every> seconds for <total> seconds
    Then every request succeeds

    Examples:
      | does                                      | kind      | every | total |
      | closes the connection after chat          | JSON      | 1     | 30    |
      | closes the connection 1 second after chat | streaming | 1.5   | 30    |

  @id:stale-connection-in-the-same-instant @must @needs:faults @needs:virtual @case:B095
  Scenario: The engine closes in the instant in which the next request is sent: nobody sees it
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" closes the connection 1 second after chat
    And a JSON request is sent every 1 seconds for 50 seconds
    Then every request succeeds

  @id:a-taken-request-is-not-sent-twice @must @needs:faults @needs:kept-connections
  Scenario Outline: A kept connection that <does> had taken the request: it is not sent again
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" <does> chat
    And a JSON request is sent
    Then the request succeeds
    When a JSON request is sent
    Then the failure is visible
    And 1 requests reached the engines

    Examples:
      | does                             |
      | closes on the next request after |
      | resets the next request after    |

  @id:the-newest-answer-stands @must @needs:faults @needs:retries @needs:clock @needs:restart
  Scenario: When everybody was asked, the client gets what an engine said last, not an error of the router
    Given 2 engines that serve
    And the router in front of all engines
    And the router is ready
    When 1 seconds pass
    And engine "e00" answers chat with 503 and retry-after 9 seconds
    And engine "e01" answers chat with 503 and retry-after 8 seconds
    And a JSON request is sent
    Then the answer has status 503
    And the answer has header "Retry-After"
    And 2 requests reached the engines
