Feature: An engine that sheds for ever
  Shedding is no fault, so no breaker sees an engine that answers 503 for ever. Its own metrics do:
  nothing runs, nothing waits, and still it sheds. While others of its model serve it gets one request
  in each health interval, and its first answer brings it back. A model's last engine is never
  taken out.

  @id:stuck-is-wedged @must @needs:faults @needs:clock @needs:metrics @bundled
  Scenario: After a minute of nothing but 503 an idle engine is wedged, and gets a request in ten seconds
    Given 2 engines that serve
    And the router in front of all engines
    And the router is ready
    When engine "e00" answers chat with 503 for 300 seconds
    And a JSON request is sent every 1 seconds for 60 seconds
    Then the router calls engine "e00" well
    When a JSON request is sent every 1 seconds for 10 seconds
    Then the router calls engine "e00" wedged
    When a JSON request is sent every 2 seconds for 60 seconds
    Then every request succeeds
    And engine "e00" got between 36 and 40 requests from clients

  @id:stuck-without-metrics-is-suspect @should @needs:faults @needs:clock @bundled
  Scenario: An engine without metrics to ask is suspect, and is spared alike
    Given 2 engines that serve
    And engine "e00" answers "GET /metrics" with 404 for ever
    And the router in front of all engines
    And the router is ready
    When engine "e00" answers chat with 503 for 300 seconds
    And a JSON request is sent every 1 seconds for 70 seconds
    Then the router calls engine "e00" suspect
    When a JSON request is sent every 2 seconds for 60 seconds
    Then every request succeeds
    And engine "e00" got between 36 and 40 requests from clients

  @id:stuck-heals-with-its-first-answer @must @needs:faults @needs:clock @needs:metrics @bundled
  Scenario: The first request that a stuck engine answers brings it back
    Given 2 engines that serve
    And the router in front of all engines
    And the router is ready
    When engine "e00" answers chat with 503 for 90 seconds
    And a JSON request is sent every 2 seconds for 80 seconds
    Then the router calls engine "e00" wedged
    When a JSON request is sent every 2 seconds for 25 seconds
    Then the router calls engine "e00" well
    When 10 JSON requests are sent one after another
    Then every request succeeds
    And engine "e00" got between 26 and 32 requests from clients

  @id:busy-is-not-stuck @must @needs:faults @needs:clock @needs:metrics @bundled
  Scenario: An engine that sheds because it works is never taken for stuck
    Given 2 engines that serve
    And the router in front of all engines, set to
      | wedge_after_secs | 20 |
    And the router is ready
    When hold "first token" of engine "e00" is set
    And 1 requests are on their way to engine "e00"
    And 1 answers wait at hold "first token" of engine "e00"
    And engine "e00" answers chat with 503 for 150 seconds
    And a JSON request is sent every 2 seconds for 50 seconds
    Then the router calls engine "e00" well
    When hold "first token" of engine "e00" is released
    And a JSON request is sent every 2 seconds for 50 seconds
    Then the router calls engine "e00" wedged

  @id:stuck-alone-is-still-asked @must @needs:faults @needs:clock @counts
  Scenario: A model's last engine is asked every time, however long it sheds
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" answers chat with 503 for 200 seconds
    And a JSON request is sent every 4 seconds for 200 seconds
    And a JSON request is sent
    Then the request succeeds
    And engine "sole" got 51 requests from clients

  @id:retry-after-spares @should @needs:faults @needs:clock @bundled @case:B017
  Scenario: An engine that asks to be left alone is spared while another can be asked
    The later wish wins: a longer Retry-After replaces a shorter one.
    Given 2 engines that serve
    And the router in front of all engines
    And the router is ready
    When engine "e00" answers chat with 429 and retry-after 1 second for 1 request
    And 2 JSON requests are sent one after another
    And 3 seconds pass
    And engine "e00" answers chat with 429 and retry-after 40 seconds for 1 request
    And 2 JSON requests are sent one after another
    And 30 seconds pass
    And 10 JSON requests are sent one after another
    Then every request succeeds
    And engine "e00" got 2 requests from clients
    When 11 seconds pass
    And 10 JSON requests are sent one after another
    Then engine "e00" got 7 requests from clients
