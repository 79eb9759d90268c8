@counts
Feature: Backpressure is not a fault
  A full engine answers 503 or 429. It is healthy, and says "not now". A router that counts such
  answers as faults sheds the worker for a minute, and where it was the only one, the fleet with it.
  Faults are something else: an engine that answers 500 in a streak, or cuts its answers short.

  Background:
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready

  @id:backpressure-sole-engine-is-never-shed @must @needs:faults @needs:clock
  Scenario Outline: A sole engine that answers <kind> requests with <status> for 12 seconds is never shed
    When a <kind> request is sent
    Then the request succeeds
    When engine "sole" answers chat with <status> for 12 seconds
    And a <kind> request is sent every 0.25 seconds for 8 seconds
    Then the last 32 answers have status <status>
    When 5 seconds pass
    And a <kind> request is sent
    Then the request succeeds

    Examples:
      | status | kind      |
      | 503    | JSON      |
      | 503    | streaming |
      | 429    | JSON      |
      | 429    | streaming |

  @id:backpressure-in-stream @must @needs:faults
  Scenario: A stream that says 503 in its first event is backpressure too
    When engine "sole" sends an error event 503 in chat for 12 requests
    And 12 streaming requests are sent one after another
    And a streaming request is sent
    Then the request succeeds

  @id:backpressure-interleaved-with-errors @must @needs:faults @needs:breaker
  Scenario Outline: Errors between <kind> answers of 503 still open the breaker
    When the next chat answers of engine "sole" are 500, 503, 500, 503, 500, 503, 500, 503, 500
    And 9 <kind> requests are sent one after another
    And a <kind> request is sent
    Then the answer has status 503
    And the answer has header "Retry-After"
    And engine "sole" got 9 requests from clients

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:errors-open-the-breaker @must @needs:faults @needs:clock @needs:breaker
  Scenario Outline: A streak of five <kind> answers of 500 gives the engine a rest of 30 seconds
    When engine "sole" answers chat with 500 for 5 requests
    And 5 <kind> requests are sent one after another
    Then every answer has status 500
    When 25 seconds pass
    And a <kind> request is sent
    Then the answer has status 503
    And engine "sole" got 5 requests from clients
    When 10 seconds pass
    And a <kind> request is sent
    Then the request succeeds

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:the-rest-is-30-seconds-exactly @should @needs:faults @needs:clock @bundled
  Scenario: The rest ends after 30 seconds, not earlier and not later
    When engine "sole" answers chat with 500 for 5 requests
    And 5 JSON requests are sent one after another
    And 29.999 seconds pass
    And a JSON request is sent
    Then the answer has status 503
    And engine "sole" got 5 requests from clients
    When 0.001 seconds pass
    And a JSON request is sent
    Then the request succeeds

  @id:half-open-probe-answered-503-closes @must @needs:faults @needs:clock @needs:breaker
  Scenario: A half-open probe that is answered 503 closes the breaker
    When engine "sole" answers chat with 500 for 5 requests
    And 5 JSON requests are sent one after another
    And 35 seconds pass
    And engine "sole" answers chat with 503 for 1 request
    And a JSON request is sent
    Then the answer has status 503
    When 20 JSON requests are sent at once
    Then the last 20 answers have status 200

  @id:late-503-leaves-an-open-breaker-alone @must @needs:faults @needs:clock @needs:breaker
  Scenario: A 503 that comes late does not close an open breaker
    When engine "sole" answers chat with 503 and waits 10 seconds before answering chat for 1 request
    And a JSON request "slow" is on its way
    And engine "sole" answers chat with 500 for 5 requests
    And 5 JSON requests are sent one after another
    And request "slow" is answered
    Then the answer has status 503
    When 10 seconds pass
    And a JSON request is sent
    Then the answer has status 503
    And engine "sole" got 6 requests from clients
    When 15 seconds pass
    And a JSON request is sent
    Then the request succeeds

  @id:client-faults-never-open @must @needs:faults
  Scenario Outline: A client's 400s never open the breaker
    When engine "sole" answers chat with 400 for 20 requests
    And 20 <kind> requests are sent one after another
    Then every answer has status 400
    When a <kind> request is sent
    Then the request succeeds

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:declared-client-fault-never-opens @must @needs:faults
  Scenario: A 500 whose body declares a 400 is the client's fault
    Some engines answer a client's mistake with 500; one bad client must not take them away.
    When engine "sole" answers chat with 500 and body "{"error": {"message": "bad", "type": "invalid_request_error", "code": 400}}" for 20 requests
    And 20 JSON requests are sent one after another
    And a JSON request is sent
    Then the request succeeds

  @id:cut-answers-open-the-breaker @must @needs:faults @needs:breaker @rfc:9112-8
  Scenario Outline: A <kind> answer with <status> that ends before its framing says so is a fault
    When engine "sole" answers chat with <status> and truncates chat after 10 bytes for 5 requests
    And 5 <kind> requests are sent one after another
    Then the failure is visible
    When a <kind> request is sent
    Then the answer has status 503
    And engine "sole" got 5 requests from clients

    Examples:
      | status | kind      |
      | 200    | JSON      |
      | 200    | streaming |
      | 503    | JSON      |

  @id:outcomes-agree-with-the-breaker @should @needs:faults @needs:clock @bundled
  Scenario: The outcome metric agrees with the breaker
    When a JSON request is sent
    And the next chat answers of engine "sole" are 400, 503, 429, 500, 500
    And 5 JSON requests are sent one after another
    And engine "sole" never answers chat for 1 request
    And a JSON request is sent and its client leaves after 1 seconds
    Then the router counted for engine "sole"
      | success      | 1 |
      | client_error | 1 |
      | backpressure | 2 |
      | error        | 2 |
      | cancelled    | 1 |
    And the breaker of engine "sole" is closed

  @id:client-mistakes-never-open @must @needs:chat @needs:refusals
  Scenario: Requests that are no chat never take an engine away
    What the engine says of them is its own affair: the next user is served.
    When 20 requests without messages are sent one after another
    Then no request succeeds
    When a JSON request is sent
    Then the request succeeds

  @id:clients-that-leave-never-open @must @needs:stream
  Scenario: Clients that leave in the middle never take an engine away
    When 10 streaming requests are sent and their clients leave after 0.001 seconds
    And a streaming request is sent
    Then the request succeeds

  @id:many-at-once @must @needs:chat
  Scenario Outline: Twenty <kind> requests at once are all answered
    When 20 <kind> requests are sent at once
    Then every request succeeds

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:resting-says-when @must @needs:faults @needs:virtual @case:B029
  Scenario: While everybody rests, a client is told when to come back, and then served
    When engine "sole" answers chat with 500 for 5 requests
    And 5 JSON requests are sent one after another
    And 10 seconds pass
    And a JSON request is sent
    Then the answer has status 503
    And the answer has header "Retry-After" with "20"
    When 20 seconds pass
    And a JSON request is sent
    Then the request succeeds
