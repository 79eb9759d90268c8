Feature: Requests go where they are served best
  A session has a home, where its cache is. It leaves only when it must, and whoever joins or rests
  moves nobody else. Load counts from the choice on, is given back on every end, and an engine that
  fails fast does not look like one with nothing to do.

  @id:session-named-in-the-body @must @needs:faults @needs:body-sessions @case:B061
  Scenario Outline: With <policy> a session is what the body names, never the request's id
    Given 4 engines that serve
    And the router in front of all engines, set to
      | policy | <policy> |
    And the router is ready
    When 21 sessions, named in the body only, send 5 requests each
    Then every request succeeds
    And every session stays on one engine

    Examples:
      | policy          |
      | consistent_hash |
      | sticky          |

  @id:session-comes-home @must @needs:faults @needs:clock @needs:sessions @needs:breaker @counts @case:B010
  Scenario: A session whose home rests is answered elsewhere, and comes home
    Given 3 engines that serve
    And the router in front of all engines, set to
      | policy | consistent_hash |
    And the router is ready
    When session "one" sends 1 JSON requests
    And the engine of session "one" answers chat with 500 for 5 requests
    And session "one" sends 5 JSON requests
    Then the last 5 answers have status 500
    When 1 seconds pass
    And session "one" sends 3 JSON requests
    Then the last 3 answers have status 200
    And session "one" was answered by another engine
    When 31 seconds pass
    And session "one" sends 2 JSON requests
    Then the last 2 answers have status 200
    And session "one" was answered by its home

  @id:a-new-engine-moves-its-share @must @needs:faults @needs:clock @needs:sessions @case:B062
  Scenario: A fifth engine takes over its share of the sessions and moves no others
    Given 5 engines, of which 4 serve at once and the last after 60 seconds
    And the router in front of all engines, set to
      | policy | consistent_hash |
    And the router is ready
    When 200 sessions send a request each, one after another
    And it is 63 s
    And 200 sessions send a request each, one after another
    Then every request succeeds
    And at most 90 sessions moved, all of them to engine "e04"

  @id:bounded-home @should @needs:faults @needs:clock @bundled
  Scenario: One busy session does not overload its home
    Given 4 engines that serve
    And the router in front of all engines, set to
      | policy | consistent_hash |
    And the router is ready
    When engine "e00" waits 1 second before answering chat
    And engine "e01" waits 1 second before answering chat
    And engine "e02" waits 1 second before answering chat
    And engine "e03" waits 1 second before answering chat
    And 40 requests of session "hot" are sent at once
    Then every request succeeds
    And no engine got more than 13 requests from clients

  @id:load-counts-from-the-choice @must @needs:faults @needs:clock @case:B059
  Scenario: A burst before any answer is spread evenly
    Given 4 engines that serve
    And the router in front of all engines, set to
      | policy | least_load |
    And the router is ready
    When engine "e00" waits 10 seconds before answering chat
    And engine "e01" waits 10 seconds before answering chat
    And engine "e02" waits 10 seconds before answering chat
    And engine "e03" waits 10 seconds before answering chat
    And 16 JSON requests are sent at once
    Then every request succeeds
    And every engine got 4 requests from clients

  @id:two-choices-spread-a-burst @should @needs:faults @needs:clock @case:B055
  Scenario: Of two choices the better one: no engine gets twice its part
    Given 4 engines that serve
    And the router in front of all engines, set to
      | policy | power_of_two |
    And the router is ready
    When engine "e00" waits 10 seconds before answering chat
    And engine "e01" waits 10 seconds before answering chat
    And engine "e02" waits 10 seconds before answering chat
    And engine "e03" waits 10 seconds before answering chat
    And 80 JSON requests are sent at once
    Then every request succeeds
    And no engine got more than 40 requests from clients

  @id:fast-failure-is-no-advantage @must @needs:faults @needs:clock @case:B014
  Scenario: An engine that sheds at once does not get everything
    Given 2 engines that serve
    And the router in front of all engines, set to
      | policy | least_load |
    And the router is ready
    When engine "e00" waits 0.2 seconds before answering chat
    And engine "e01" answers chat with 503
    And 100 JSON requests are sent, 10 at a time
    Then the last 80 answers have status 200
    And engine "e01" got at most 10 requests from clients

  @id:load-is-given-back @must @needs:faults @needs:clock @bundled @case:B053
  Scenario Outline: With <policy> the load of clients that left is given back
    Given 2 engines that serve
    And the router in front of all engines, set to
      | policy | <policy> |
    And the router is ready
    When engine "e00" stalls chat after 2 events
    And engine "e01" never answers chat
    And 20 streaming requests are sent and their clients leave after 0.7 seconds
    And 20 JSON requests are sent and their clients leave after 0.7 seconds
    Then 0 requests are under way at engine "e00"
    And 0 requests are under way at engine "e01"

    Examples:
      | policy      |
      | least_load  |
      | round_robin |
      | sticky      |

  @id:conversations-stay-with-their-prefix @should @needs:faults
  Scenario: Without a session, a conversation goes where its beginning is cached
    Given 4 engines that serve
    And the router in front of all engines, set to
      | policy | cache_aware |
    And the router is ready
    When 7 users talk for 5 turns each
    Then every request succeeds
    And every user stays on one engine

  @id:conversations-are-spread @should @needs:faults @bundled
  Scenario: Conversations without a session are spread over all engines
    Given 4 engines that serve
    And the router in front of all engines, set to
      | policy | cache_aware |
    And the router is ready
    When 7 users talk for 5 turns each
    Then every request succeeds
    And every engine got at least 5 requests from clients
