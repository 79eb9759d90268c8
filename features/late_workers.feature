Feature: Late workers join at once
  Two of sixteen workers are up when the router starts, the others load for minutes. All sessions
  land on the two, and stay there, because a session stays where it began. The gate prevents it;
  without the gate, the router must at least give new sessions to late workers at once.

  @id:without-the-gate-early-engines-hold-all @observe @needs:faults @needs:virtual
  Scenario Outline: Without the gate, <early> early engines of 16 hold all 335 sessions
    Given 16 engines, of which <early> serve at once and the last after <late> seconds
    And the router in front of all engines, set to
      | policy | sticky |
    And the router is ready
    When 335 sessions send 5 requests each
    Then every request succeeds
    And the <early> early engines hold all 335 sessions, <low> or <high> each

    Examples:
      | early | late | low | high |
      | 2     | 172  | 167 | 168  |
      | 10    | 255  | 33  | 34   |
      | 1     | 255  | 335 | 335  |

  @id:behind-the-gate-the-spread-is-even @must @needs:faults @needs:virtual @needs:least-sessions
  Scenario Outline: Behind the gate, with <early> early engines, every engine holds 20 or 21 sessions
    Given 16 engines, of which <early> serve at once and the last after <late> seconds
    When the gate has opened for all engines
    Then the gate opened after <late> seconds
    Given the router in front of all engines, set to
      | policy | sticky |
    And the router is ready
    When the router has had 1 seconds to notice
    And 335 sessions send 5 requests each
    Then every request succeeds
    And every engine holds 20 or 21 sessions
    And every session stays on one engine

    Examples:
      | early | late |
      | 2     | 172  |
      | 10    | 255  |
      | 1     | 255  |

  @id:behind-the-gate-nobody-drowns @must @needs:faults @needs:clock @needs:least-sessions @needs:request-ids
  Scenario: Behind the gate no engine of 16 holds more than twice its part of 100 sessions
    Given 16 engines, of which 2 serve at once and the last after 172 seconds
    When the gate has opened for all engines
    Given the router in front of all engines, set to
      | policy | sticky |
    And the router is ready
    When the router has had 1 seconds to notice
    And 100 sessions send 2 requests each
    Then every request succeeds
    And no engine holds more than 13 sessions
    And every session stays on one engine
    And no request was worked on twice

  @id:late-workers-get-the-new-sessions @must @needs:faults @needs:clock @needs:least-sessions
  Scenario: New sessions go to a late worker at the next health check
    Given 2 engines of model "qwen", the last after 30 seconds
    And the router in front of all engines, set to
      | policy | sticky |
    And the router is ready
    When 8 new sessions "early" send 1 requests each for model "qwen"
    And it is 30 s
    And the router has had 1 seconds to notice
    And 8 new sessions "late" send 1 requests each for model "qwen"
    Then every request succeeds
    And engine "qwen0" holds 8 of the sessions "early"
    And engine "qwen1" holds 8 of the sessions "late"

  @id:late-workers-of-each-model @must @needs:faults @needs:clock @needs:least-sessions @needs:models
  Scenario: New sessions go to late workers of their own model's pool
    Given 2 engines of model "qwen", the last after 30 seconds
    And 2 engines of model "llama", the last after 60 seconds
    And the router in front of all engines, set to
      | policy | sticky |
    And the router is ready
    When 8 new sessions "early" send 1 requests each for model "qwen"
    And 6 new sessions "other" send 1 requests each for model "llama"
    And it is 30 s
    And the router has had 1 seconds to notice
    And 8 new sessions "late" send 1 requests each for model "qwen"
    And it is 60 s
    And the router has had 1 seconds to notice
    And 6 new sessions "more" send 1 requests each for model "llama"
    Then every request succeeds
    And engine "qwen0" holds 8 of the sessions "early"
    And engine "qwen1" holds 8 of the sessions "late"
    And engine "llama0" holds 6 of the sessions "other"
    And engine "llama1" holds 6 of the sessions "more"

  @id:nothing-is-reindexed-later @must @needs:faults @needs:clock @needs:least-sessions
  Scenario: A session that began early stays where it is when others join
    Given 4 engines, of which 2 serve at once and the last after 60 seconds
    And the router in front of all engines, set to
      | policy | sticky |
    And the router is ready
    When 20 sessions send 1 requests each
    And it is 60 s
    And the router has had 5 seconds to notice
    And 20 sessions send 3 requests each
    Then every request succeeds
    And every session stays on one engine
    And engine "e02" got 0 requests from clients
    And engine "e03" got 0 requests from clients

  @id:every-worker-is-discovered-once @should @needs:faults @needs:clock @bundled
  Scenario: The router logs 16 of 16 hosts and 16 discovered models
    Given 16 engines, of which 2 serve at once and the last after 172 seconds
    And the router in front of all engines
    When it is 175 s
    Then the router logged "16 out of 16 unique hosts are healthy"
    And the router logged 16 workers as "Discovered model qwen on w"
    And 16 workers are in rotation

  @id:nobody-is-forgotten @must @needs:faults @needs:virtual
  Scenario: A worker that comes after an hour joins like any other
    Given 2 engines, of which 1 serve at once and the last after 3600 seconds
    And the router in front of all engines
    When it is 3602 s
    And 4 JSON requests are sent one after another
    Then every request succeeds
    And engine "e01" got 3 chat requests

  @id:a-router-with-nobody-says-so @must @needs:faults @needs:clock @needs:readiness
  Scenario: A router whose workers all load binds at once and says that it is not ready
    Given an engine "late" that refuses for 60 seconds
    And the router in front of all engines
    Then the router is not ready
    When a JSON request is sent
    Then the answer has status 503
    And the answer has header "Retry-After"
    And no answer names an engine's address
    When it is 60 s
    And the router has had 2 seconds to notice
    And a JSON request is sent
    Then the request succeeds

  @id:idle-sessions-move-where-asked @should @needs:faults @needs:clock @bundled
  Scenario: Where asked, sessions that idled begin anew on late workers, the others stay
    Given 4 engines, of which 2 serve at once and the last after 20 seconds
    And the router in front of all engines, set to
      | policy                     | sticky |
      | sticky_rebalance_idle_secs | 60     |
    And the router is ready
    When 20 sessions send 1 requests each
    And it is 25 s
    And 20 sessions send 1 requests each
    Then every session stays on one engine
    When it is 90 s
    And 20 sessions send 1 requests each
    Then every request succeeds
    And engine "e02" got 5 requests from clients
    And engine "e03" got 5 requests from clients
