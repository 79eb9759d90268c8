Feature: Load has the shape of a real engine
  What made the incident visible were the engines' own metrics. Without the gate two engines hold all
  335 sessions: their KV caches are full, requests wait and lose their blocks to each other, while
  fourteen engines have nothing to do. Behind the gate nobody waits and the caches are a sixth full.

  @id:without-the-gate-two-engines-are-full-and-the-rest-idle @observe @needs:faults @needs:virtual @needs:metrics
  Scenario: Without the gate the early engines are full, with a queue and preemptions
    Given 16 engines of 9800 KV blocks, of which 2 serve at once and the last after 172 seconds
    And the router in front of all engines, set to
      | policy | sticky |
    And the router is ready
    When 335 sessions begin within 10 seconds and keep asking for 200 seconds
    Then every request succeeds
    And in the last 20 seconds the metrics of the 2 early engines show
      | metric      | least | most |
      | KV          | 99%   | 100% |
      | waiting     | 40    |      |
      | preemptions | 1     |      |
    And in the last 20 seconds the metrics of the 14 late engines show
      | metric      | least | most |
      | running     | 0     | 0    |
      | waiting     | 0     | 0    |
      | KV          | 0     | 0    |

  @id:behind-the-gate-nobody-waits-for-a-cache @must @needs:faults @needs:virtual @needs:metrics
  Scenario: Behind the gate every engine runs 15 to 21 requests and none waits
    Given 16 engines of 9800 KV blocks, of which 2 serve at once and the last after 172 seconds
    When the gate has opened for all engines
    Given the router in front of all engines, set to
      | policy | sticky |
    And the router is ready
    When 335 sessions begin within 40 seconds and keep asking for 80 seconds
    Then every request succeeds
    And every engine holds 20 or 21 sessions
    And in the last 20 seconds the metrics of every engine show
      | metric      | least | most |
      | running     | 15    | 21   |
      | waiting     | 0     | 0    |
      | KV          | 12%   | 18%  |
      | preemptions | 0     | 0    |
