Feature: A router that is told to stop loses nobody
  SIGTERM comes with every deployment. First the router says that it is not ready, so that balancers
  send no more, and still serves; a moment later it accepts no more; what is under way ends.

  Background:
    Given an engine "sole" that serves
    And the router in front of all engines, set to
      | shutdown_delay_secs        | 2  |
      | shutdown_grace_period_secs | 20 |
    And the router is ready

  @id:drain-readiness-first @must @needs:faults @needs:clock @bundled @case:B130
  Scenario: Not ready at once, and still serving for a moment
    When the router drains
    Then the router is not ready
    When a JSON request is sent
    Then the request succeeds
    When 3 seconds pass
    And a JSON request is sent
    Then the answer is refused

  @id:drain-sends-clients-elsewhere @should @needs:faults @needs:clock @bundled
  Scenario: A kept connection is told that its answer is the last one here
    When the router drains
    And a raw client sends the router
      """
      GET /health HTTP/1.1¶Host: r¶¶
      [1 s]
      GET /health HTTP/1.1¶Host: r¶¶
      """
    Then the raw client is answered 200 and the connection is closed

  @id:drain-lets-answers-end @must @needs:stream @needs:faults @needs:clock @bundled @case:B128
  Scenario Outline: A <kind> answer that is under way ends whole, and the router is gone right after it
    When hold "<hold>" of engine "sole" is set
    And a <kind> request "slow" is on its way
    And 1 answers wait at hold "<hold>" of engine "sole"
    And the router drains
    And 10 seconds pass
    Then the router still drains
    When hold "<hold>" of engine "sole" is released
    And request "slow" is answered
    Then the request succeeds
    When 1 seconds pass
    Then the router has stopped

    Examples:
      | kind      | hold  |
      | JSON      | head  |
      | streaming | token |

  @id:drain-has-an-end @should @needs:faults @needs:clock @bundled
  Scenario: What has not ended in the grace period is cut, visibly
    When engine "sole" stalls chat after 2 events
    And a streaming request "endless" is on its way
    And the router drains
    And 21 seconds pass
    Then the router still drains
    When 2 seconds pass
    Then the router has stopped
    And the answer to request "endless" is cut
    And 2 events came
