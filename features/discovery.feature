Feature: A fleet that changes while requests run
  Workers come late, drain, leave, and are replaced as a whole. None is forgotten, none is filed under
  a name that it did not list, none gets a request after it was taken out, and what was under way
  ends as if nothing had happened.

  @id:everybody-is-found @must @needs:faults @needs:clock @needs:turns @case:B064
  Scenario: Engines that list late get work like those that listed early
    Given 16 engines, of which 2 serve at once and the last after 3 seconds
    And the router in front of all engines
    When it is 6 s
    And the router has had 1 seconds to notice
    And 64 JSON requests are sent one after another
    Then every request succeeds
    And every engine got 4 requests from clients

  @id:a-cut-list-is-read-again @must @needs:faults @needs:clock @case:B104
  Scenario: A model list that broke off is asked for again
    Given an engine "torn" that serves
    And engine "torn" truncates the listing after 20 bytes for 2 requests
    And the router in front of all engines
    When 4 seconds pass
    And the router has had 1 seconds to notice
    And a JSON request is sent
    Then the request succeeds

  @id:a-known-model-with-nobody @must @needs:faults @needs:clock @needs:models @case:B103
  Scenario: A model whose only engine is gone is unavailable, one that never was is unknown
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When the process of engine "sole" dies
    And 30 seconds pass
    And a JSON request is sent
    Then the answer has status 503
    And the answer has header "Retry-After"
    When a JSON request for model "never-seen" is sent
    Then the answer has status 404

  @id:a-new-life-owes-nothing @must @needs:faults @needs:clock @needs:restart @needs:health @needs:breaker @needs:turns @counts
  Scenario: An engine that was restarted gets requests once it serves, whatever its old life did
    Given 2 engines that serve
    And the router in front of all engines, set to
      | cb_timeout_duration_secs | 300 |
    And the router is ready
    When engine "e00" answers chat with 500 for 5 requests
    And 10 JSON requests are sent one after another
    And the process of engine "e00" dies
    And 15 seconds pass
    And the process of engine "e00" starts again
    And 5 seconds pass
    And 10 JSON requests are sent one after another
    Then the last 10 answers have status 200
    And engine "e00" got 10 requests from clients

  @id:added-at-run-time @should @needs:faults @needs:clock @bundled
  Scenario: A worker that is added at run time serves within two seconds
    Given an engine "first" that serves
    And an engine "late" that serves
    And the router in front of engine "first"
    And the router is ready
    When the router adds engine "late"
    And 2 seconds pass
    And 4 JSON requests are sent one after another
    Then every request succeeds
    And engine "late" got 2 requests from clients

  @id:draining-gets-nothing-new @must @needs:faults @needs:clock @bundled @case:B097 @case:B100
  Scenario: A draining worker ends what it has and gets nothing new, until it is taken back
    Given 2 engines that serve
    And the router in front of all engines
    And the router is ready
    When engine "e00" waits 10 seconds before answering chat for 1 request
    And a streaming request "long" is on its way
    And the router drains engine "e00"
    And 6 JSON requests are sent one after another
    Then every request succeeds
    And engine "e01" got 6 requests from clients
    When request "long" is answered
    Then the request succeeds
    And engine "e00" got 1 requests from clients
    When the router takes engine "e00" back
    And 2 JSON requests are sent one after another
    Then engine "e00" got 2 requests from clients

  @id:a-blip-costs-nothing @must @needs:faults @needs:clock @bundled @case:B101
  Scenario: A worker that drains for a moment keeps its streams, its load and its sessions
    Given 2 engines that serve
    And the router in front of all engines, set to
      | policy | sticky |
    And the router is ready
    When 10 sessions send 1 requests each
    And engine "e00" waits 5 seconds before answering chat for 1 request
    And a streaming request "long" is on its way
    And the router drains engine "e00"
    And 0.1 seconds pass
    And the router takes engine "e00" back
    Then 1 requests are under way at engine "e00"
    When 10 sessions send 1 requests each
    And request "long" is answered
    Then every request succeeds
    And every session stays on one engine
    And 0 requests are under way at engine "e00"

  @id:a-list-replaces-the-fleet @must @needs:faults @needs:clock @bundled @case:B088 @case:B098
  Scenario: After a resync who is not in the list is gone, and is not checked any more
    Given 3 engines that serve
    And the router in front of all engines
    And the router is ready
    When the router's workers become engines "e01, e02"
    And the process of engine "e00" dies
    And 60 seconds pass
    And 6 JSON requests are sent one after another
    Then every request succeeds
    And 2 workers are in rotation
    And engine "e00" got 0 requests from clients
    And the router never logged "w00*leaves the rotation: *refused*"

  @id:removed-while-it-answers @must @needs:faults @needs:clock @bundled
  Scenario: A worker that is removed ends what it has
    Given 2 engines that serve
    And the router in front of all engines
    And the router is ready
    When engine "e00" waits 10 seconds before answering chat for 1 request
    And a JSON request "long" is on its way
    And the router removes engine "e00"
    And 4 JSON requests are sent one after another
    And request "long" is answered
    Then every request succeeds
    And engine "e00" got 1 requests from clients
    And 1 workers are in rotation

  @id:priority-before-standby @must @needs:faults @needs:clock @bundled @case:B026
  Scenario: A standby is asked when the first choice cannot, and only then
    Given an engine "first" that serves
    And an engine "standby" that serves
    And the router in front of engine "first"
    And the router is ready
    When the router adds engine "standby" with priority 1
    And 2 seconds pass
    And 5 JSON requests are sent one after another
    Then engine "first" got 5 requests from clients
    When engine "first" answers chat with 503
    And a JSON request is sent
    Then the request succeeds
    And engine "first" got 6 requests from clients
    And engine "standby" got 1 requests from clients
