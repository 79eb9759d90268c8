Feature: A fleet loses nobody
  A fleet is groups of engines that come up when they please: some serve, some load, some die. What
  its users were promised is read from all its engines' journals together: every request is served,
  once, by an engine that is ready, and the load is spread evenly.

  @id:fleet-of-groups @must @needs:faults @needs:clock
  Scenario: Groups bind at their times, from the first to the last
    Given a fleet of
      | group | count | binds         | life                  |
      | early | 2     |               | serves                |
      | late  | 3     | 12 s to 172 s | loads for 30 seconds  |
      | sole  | 1     | 60 s          | is busy for 8 seconds |
    When it is 11.999999999 s
    And a JSON request is sent to engine "early-01"
    Then the request succeeds
    When a JSON request is sent to engine "late-00"
    Then the answer is refused
    When it is 12 s
    And a JSON request is sent to engine "late-00"
    Then the answer has status 503
    When it is 42 s
    And a JSON request is sent to engine "late-00"
    Then the request succeeds
    When it is 68 s
    And a JSON request is sent to engine "sole"
    Then the request succeeds
    When it is 92 s
    And a JSON request is sent to engine "late-01"
    Then the answer has status 503
    When a JSON request is sent to engine "late-02"
    Then the answer is refused
    When it is 202 s
    And a JSON request is sent to engine "late-02"
    Then the request succeeds

  @id:fleet-file @must @needs:faults @needs:clock
  Scenario: A fleet file says the same, with rules
    Given the fleet of this file
      """toml
      model = "qwen"

      [group.steady]
      count = 2

      [group.shy]
      count = 2
      binds = "5s"

      [[group.shy.rule]]
      on = "chat"
      times = 1
      do = { fault = "answers", status = 503 }
      """
    When a JSON request is sent to engine "steady-00"
    Then the request succeeds
    When a JSON request is sent to engine "shy-01"
    Then the answer is refused
    When it is 5 s
    And a JSON request is sent to engine "shy-01"
    Then the answer has status 503
    When a JSON request is sent to engine "shy-01"
    Then the request succeeds

  @id:fleet-behind-the-gate @must @needs:faults @needs:virtual @needs:least-sessions @needs:request-ids
  Scenario Outline: Behind the gate, <count> sessions on 16 engines: none lost, none twice, an even spread
    Given a fleet of
      | group | count | binds         | life                                         |
      | early | 2     |               | serves                                       |
      | late  | 14    | 12 s to 172 s | loads for 352 seconds and never answers chat |
    When the gate has opened for all engines
    Given the router in front of all engines, set to
      | policy | sticky |
    And the router is ready
    When the router has had 1 seconds to notice
    And <count> sessions send 3 requests each
    Then no request was lost
    And no request was worked on twice
    And no request reached an engine before it served
    And no session leaves an engine that lives
    And the sessions are spread within 1 of even

    Examples:
      | count |
      | 100   |
      | 16    |

  @id:fleet-in-turns @must @counts @needs:faults @needs:turns @needs:request-ids
  Scenario: In turns, requests are spread within one of even, also on an engine that is full
    Given a fleet of
      | group | count |
      | e     | 5     |
    And the router in front of all engines, set to
      | policy | round_robin |
    And the router is ready
    When the router has had 5 seconds to notice
    And engine "e-01" answers chat with 503 for 4 requests
    And 23 JSON requests are sent one after another
    Then the requests are spread within 1 of even
    And no request was worked on twice

  @id:fleet-coming-up @must @needs:faults @needs:clock @needs:health @needs:turns @needs:request-ids
  Scenario Outline: While engines come up, <life>, nobody is sent to one that is not ready
    Given a fleet of
      | group | count | binds       | life   |
      | early | 1     |             | serves |
      | late  | 5     | 3 s to 23 s | <life> |
    And the router in front of all engines, set to
      | policy | round_robin |
    And the router is ready
    When a JSON request is sent every 0.25 seconds for 90 seconds
    Then no request was lost
    And no request was worked on twice
    And no request reached an engine before it served
    And engine "late-04" got its first client between 53 and <soon> s

    Examples:
      | life                                                   | soon |
      | loads for 30 seconds                                   | 56   |
      | loads for 30 seconds and never answers chat            | 70   |
      | loads for 30 seconds and answers chat with 404         | 70   |
      | loads for 30 seconds and closes chat without answering | 70   |

  @id:fleet-an-engine-dies @must @needs:faults @needs:restart @needs:clock @needs:health @needs:least-sessions @needs:request-ids
  Scenario: When an engine dies its sessions move, and nobody else's
    Given a fleet of
      | group | count |
      | e     | 4     |
    And the router in front of all engines, set to
      | policy | sticky |
    And the router is ready
    When the router has had 1 seconds to notice
    And 12 sessions send 2 requests each
    And the process of engine "e-02" dies
    And the router has had 25 seconds to notice
    And 12 sessions send 2 requests each
    Then every request succeeds
    And no session leaves an engine that lives
    And no request was worked on twice

  @id:fleet-users-come-and-go @should @needs:faults @needs:clock @needs:health @needs:sessions @needs:request-ids
  Scenario: Users come and go while engines join, and each stays where it began
    Given a fleet of
      | group | count | binds        |
      | early | 2     |              |
      | late  | 2     | 10 s to 20 s |
    And the router in front of all engines, set to
      | policy | sticky |
    And the router is ready
    When 8 sessions at a time send 3 requests each, until it is 60 s
    Then no request was lost
    And no session leaves an engine that lives
    And no request reached an engine before it served
