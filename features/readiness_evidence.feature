Feature: Evidence is kept, ages, and is not worn out by one bad answer
  A proof is good for five minutes, and users renew it for free: a check never queues before them. One
  bad answer is a blip, two in a row are not. What was degraded proves itself again, and an engine
  that sleeps while weights are updated is shown so, and is nobody's reason for a restart.

  @id:a-pass-is-not-repeated @must @needs:faults @needs:clock @readiness:33
  Scenario: Ready once, then only listings
    Given an engine "fine" that serves
    And a watch on engine "fine"
    When the watch checks every 5 seconds for 30 seconds
    Then engine "fine" saw exactly
      """
      0 s GET /v1/models 200
      0 s POST /v1/chat/completions 200
      5 s GET /v1/models 200
      10 s GET /v1/models 200
      15 s GET /v1/models 200
      20 s GET /v1/models 200
      25 s GET /v1/models 200
      30 s GET /v1/models 200
      """

  @id:probe-sequence-of-a-loading-engine @must @needs:faults @needs:clock @readiness:1
  Scenario: The exact requests of a short load
    Given an engine "slow" that refuses for 4 seconds, then loads for 26 seconds and never answers chat, then serves
    And a watch on engine "slow"
    When the watch checks every 5 seconds for 40 seconds
    Then it became ready at 35 s
    And engine "slow" saw exactly
      """
      5 s GET /v1/models 200
      5 s POST /v1/chat/completions …
      6 s GET /metrics 200
      6 s GET /is_sleeping 404
      6 s GET /is_paused 404
      12 s GET /metrics 200
      15 s GET /v1/models 200
      20 s GET /v1/models 200
      20 s POST /v1/chat/completions …
      21 s GET /metrics 200
      27 s GET /metrics 200
      30 s GET /v1/models 200
      35 s GET /v1/models 200
      35 s POST /v1/chat/completions 200
      40 s GET /v1/models 200
      """

  @id:evidence-expires @should @needs:faults @needs:clock @readiness:38
  Scenario: After 300 seconds one probe renews the evidence
    Given an engine "fine" that serves
    And a watch on engine "fine"
    When the watch checks every 100 seconds for 400 seconds
    Then engine "fine" got 2 chat requests

  @id:a-status-outlives-its-evidence @should @needs:faults @needs:clock @readiness:38
  Scenario: While evidence is renewed the status stays
    Given an engine "fine" that serves
    And a watch on engine "fine"
    When the watch checks once
    And engine "fine" waits 5 seconds before answering chat
    And the watch checks every 100 seconds for 400 seconds
    Then its changes were shown as running, ready
    And engine "fine" was probed 2 times

  @id:a-latch-for-ever-never-probes-again @should @needs:faults @needs:clock @readiness:38
  Scenario: With a latch for ever a service that answered once is only listed
    Given an engine "fine" that serves
    And a watch on engine "fine" whose evidence is good for ever
    When the watch checks every 100 seconds for 900 seconds
    Then engine "fine" got 1 chat requests
    And its status is ready

  @id:user-traffic-renews-evidence @should @needs:faults @needs:clock @readiness:39
  Scenario: Answered user traffic renews the evidence for free
    Given an engine "fine" that serves
    And a watch on engine "fine"
    When the watch checks every 100 seconds for 200 seconds
    And a user's request is answered
    And the watch checks every 100 seconds for 200 seconds
    Then engine "fine" got 1 chat requests

  @id:a-probe-does-not-queue-before-users @must @needs:faults @needs:clock @readiness:40
  Scenario: A renewal is put off while requests wait in the engine
    Given an engine "full" with 1 slots, 2 seconds a request
    And a watch on engine "full" whose evidence is fresh for 20 seconds
    When the watch checks once
    And 30 requests are on their way to engine "full"
    And the watch checks every 5 seconds for 50 seconds
    Then engine "full" was probed 1 times
    And its status is ready
    When all of them are answered
    And the watch checks once
    Then engine "full" was probed 2 times

  @id:wedged-after-ready-is-degraded @must @needs:faults @needs:clock @readiness:42
  Scenario: Chat hangs after it was ready, and the list answers
    Given an engine "wedged" that serves
    And an engine "fine" that serves
    And a watch on engine "wedged"
    When the watch checks once
    And engine "wedged" never answers chat
    And the watch checks every 5 seconds for 330 seconds
    Then its status is degraded
    And it became degraded at 323 s

  @id:a-router-leaves-out-who-is-wedged @must @needs:faults @needs:clock @needs:health @readiness:42
  Scenario: The router stops choosing an engine whose chat hangs
    Given an engine "wedged" that serves
    And an engine "fine" that serves
    And the router in front of all engines
    When the router is ready
    And engine "wedged" never answers chat
    And it is 400 s
    And 20 JSON requests are sent at once
    Then every request succeeds
    And engine "wedged" got 0 requests from clients

  @id:one-blip-is-not-degraded @must @needs:faults @needs:clock @readiness:43
  Scenario: One 500 leaves it ready
    Given an engine "one" that serves
    And a watch on engine "one" whose evidence is fresh for 30 seconds
    When the watch checks once
    And engine "one" answers chat with 500 for 1 request
    And the watch checks every 5 seconds for 60 seconds
    Then its changes were shown as running, ready
    And engine "one" was probed 3 times

  @id:a-slow-list-does-not-demote @must @needs:faults @needs:clock @readiness:44
  Scenario: A list that takes its time under load changes nothing
    Given an engine "one" that serves
    And a watch on engine "one"
    When the watch checks once
    And engine "one" waits 1.9 seconds before answering models
    And the watch checks every 5 seconds for 60 seconds
    Then its changes were shown as running, ready

  @id:one-list-that-hangs-does-not-demote @must @needs:faults @needs:clock @readiness:44
  Scenario: One list that does not come in time changes nothing
    Given an engine "one" that serves
    And a watch on engine "one"
    When the watch checks once
    And engine "one" never answers models for 1 request
    And the watch checks every 5 seconds for 60 seconds
    Then its changes were shown as running, ready

  @id:two-good-probes-heal @must @needs:faults @needs:clock @readiness:45
  Scenario: After it was degraded two good answers make it ready, shown once
    Given an engine "one" that serves
    And a watch on engine "one" whose evidence is fresh for 30 seconds
    When the watch checks once
    And engine "one" answers chat with 500 for 2 requests
    And the watch checks every 5 seconds for 120 seconds
    Then its changes were shown as running, ready, degraded, ready

  @id:flapping-is-damped @must @needs:faults @needs:clock @readiness:46
  Scenario: Answers that pass and fail in turn make no change at all
    Given an engine "one" that serves
    And a watch on engine "one" whose evidence is fresh for 15 seconds
    When the watch checks once
    And the next chat answers of engine "one" are 500, 200, 500, 200, 500, 200, 500, 200, 500, 200, 500, 200, 500, 200, 500, 200, 500, 200, 500, 200
    And the watch checks every 15 seconds for 300 seconds
    Then engine "one" was probed 21 times
    And its changes were shown as running, ready

  @id:a-relapse-takes-longer-to-heal @should @needs:faults @needs:clock @readiness:46
  Scenario: Two failures and two passes in turn end in degraded, not in flapping
    Given an engine "one" that serves
    And a watch on engine "one" whose evidence is fresh for 15 seconds
    When the watch checks once
    And the next chat answers of engine "one" are 500, 500, 200, 200, 500, 500, 200, 200, 500, 500, 200, 200, 500, 500, 200, 200, 500, 500, 200, 200
    And the watch checks every 15 seconds for 200 seconds
    Then its changes were shown as running, ready, degraded, ready, degraded

  @id:out-of-memory-is-the-reason @must @needs:faults @needs:clock @readiness:47
  Scenario: A 500 that speaks of memory, twice, is degraded with that reason
    Given an engine "one" that serves
    And a watch on engine "one" whose evidence is fresh for 30 seconds
    When the watch checks once
    And engine "one" answers chat with 500 and body "CUDA out of memory"
    And the watch checks every 5 seconds for 60 seconds
    Then its status is degraded
    And its reason says "CUDA out of memory"

  @id:a-pause-is-shown @must @needs:faults @needs:clock
  Scenario Outline: An engine that is <word> for a weight update is shown so, and comes back
    Given an engine "one" with the routes of reinforcement learning
    And a watch on engine "one" whose evidence is fresh for 30 seconds
    When the watch checks once
    And "POST <route>" is asked of engine "one" for 5 seconds
    And the watch checks every 5 seconds for 60 seconds
    Then its status is degraded
    And its reason says "<word>"
    And engine "one" was probed 1 times
    When "POST <back>" is asked of engine "one" for 5 seconds
    And the watch checks once
    Then its status is ready
    And it was never failed

    Examples:
      | word   | route  | back     |
      | asleep | /sleep | /wake_up |
      | paused | /pause | /resume  |

  @id:an-engine-that-starts-asleep-is-coming-up @should @needs:faults @needs:clock
  Scenario: An engine that was never awake is running, with the word for it
    Given an engine "one" that sleeps
    And a watch on engine "one"
    When the watch checks every 5 seconds for 60 seconds
    Then its status is running
    And its reason says "asleep"
    And it was never misconfigured
