Feature: The metrics say what is
  A metric that disagrees with what clients saw is worse than none: every outcome is counted once,
  by the value that the breaker was fed with, from the moment a request comes in. Labels come from
  the fleet and never from what a client wrote, so that nobody fills the memory of whoever scrapes.

  Background:
    Given an engine "one" that serves
    And the router in front of all engines
    And the router is ready

  @id:metrics-can-be-read @should @needs:chat @needs:metrics-page
  Scenario: The page is one that Prometheus reads
    When a JSON request is sent
    Then Prometheus can read the router's metrics

  @id:metrics-count-every-answer @should @needs:faults @needs:metrics-page
  Scenario Outline: Seven answers with <status> move a counter by seven
    When the router's metrics are read
    And engine "one" answers chat with <status>
    And 7 JSON requests are sent one after another
    Then 7 more are counted by a metric of the router

    Examples:
      | status |
      | 200    |
      | 400    |

  @id:metrics-are-not-the-clients-to-name @must @needs:chat @needs:metrics-page @case:B133
  Scenario: Model names that clients make up do not fill the page
    When a JSON request for model "made-up-1" is sent
    And a JSON request for model "made-up-2" is sent
    Then no metric names "made-up"

  @id:metrics-outcomes-are-the-breakers @must @needs:faults @needs:clock @bundled @case:B131
  Scenario: One request of each kind is counted as what it was
    When a JSON request is sent
    And the next chat answers of engine "one" are 400, 429, 503, 500
    And 4 JSON requests are sent one after another
    And engine "one" resets chat for 1 request
    And a JSON request is sent
    And engine "one" never answers chat for 1 request
    And a JSON request is sent and its client leaves after 1 seconds
    Then the router counted for engine "one"
      | success      | 1 |
      | client_error | 1 |
      | backpressure | 2 |
      | error        | 2 |
      | cancelled    | 1 |

  @id:metrics-count-on-arrival @must @needs:faults @needs:clock @bundled @case:B136
  Scenario: A request that is under way is seen before it is answered
    When engine "one" waits 30 seconds before answering chat for 1 request
    And a JSON request "held" is on its way
    Then the metric staticfire_requests_total{route="/v1/chat/completions"} is 1
    And the metric staticfire_worker_in_flight{worker="w00"} is 1
    And the metric staticfire_requests_admitted is 1
    And there is no metric staticfire_responses_total{route="/v1/chat/completions"}
    When request "held" is answered
    Then the metric staticfire_responses_total{route="/v1/chat/completions",status="200"} is 1
    And the metric staticfire_worker_in_flight{worker="w00"} is 0
    And the metric staticfire_requests_admitted is 0

  @id:metrics-labels-are-the-fleets @must @needs:chat @bundled @case:B133
  Scenario: A model that a client made up is no label
    When a JSON request for model "made-up-1" is sent
    And a JSON request for model "made-up-2" is sent
    And "GET /made/up" is asked of the router
    Then the answer has status 404
    And no metric names "made"
    And the metric staticfire_errors_total{code="model_not_found"} is 2

  @id:metrics-are-there-from-the-start @should @needs:chat @bundled @case:B134
  Scenario: A worker that was always well is shown as well
    Then the metric staticfire_worker_serving{worker="w00"} is 1
    And the metric staticfire_worker_breaker_state{worker="w00"} is 0
    And the metric staticfire_worker_status{worker="w00",status="ready"} is 1
    And the metric staticfire_workers is 1

  @id:metrics-of-a-removed-worker-vanish @must @needs:faults @needs:clock @bundled
  Scenario: A worker that was removed leaves no series behind, not even by a late answer
    Given an engine "two" that serves
    When the router adds engine "two"
    And 2 seconds pass
    And 4 JSON requests are sent one after another
    Then the metric staticfire_worker_requests_total{worker="w01",model="qwen",outcome="success"} is 2
    When engine "two" waits 10 seconds before answering chat
    And 2 JSON requests are on their way to the router
    And the router removes engine "two"
    Then no metric names "w01"
    When all of them are answered
    Then no metric names "w01"
    And the metric staticfire_workers is 1

  @id:metrics-tell-why-a-breaker-moved @should @needs:faults @needs:clock @bundled @case:B005
  Scenario: Each change of a breaker's state is counted with its cause
    When engine "one" answers chat with 500 for 5 requests
    And 5 JSON requests are sent one after another
    Then the metric staticfire_breaker_transitions_total{worker="w00",from="closed",to="open",cause="error"} is 1
    And the metric staticfire_worker_breaker_state{worker="w00"} is 1
    When 30 seconds pass
    And engine "one" answers chat with 400 for 1 request
    And a JSON request is sent
    Then the metric staticfire_breaker_transitions_total{worker="w00",from="open",to="half-open",cause="cool_down"} is 1
    And the metric staticfire_breaker_transitions_total{worker="w00",from="half-open",to="closed",cause="client_error"} is 1

  @id:metrics-tell-who-is-stuck @should @needs:faults @needs:clock @needs:metrics @bundled
  Scenario: A worker that sheds for ever is told from one that is well, until it answers
    Given an engine "two" that serves
    When the router adds engine "two"
    And 2 seconds pass
    And engine "two" answers chat with 503 for 90 seconds
    And a JSON request is sent every 1 seconds for 70 seconds
    Then the metric staticfire_worker_sign{worker="w01",sign="wedged"} is 1
    And there is no metric staticfire_worker_sign{worker="w01",sign="well"}
    And the metric staticfire_worker_sign{worker="w00",sign="well"} is 1
    When a JSON request is sent every 1 seconds for 40 seconds
    Then the metric staticfire_worker_sign{worker="w01",sign="well"} is 1
    And there is no metric staticfire_worker_sign{worker="w01",sign="wedged"}
    When the router removes engine "two"
    Then no metric names "w01"

  @id:metrics-times-of-a-stream @should @needs:faults @needs:clock @bundled
  Scenario: The first token and the whole answer have a time each
    When engine "one" waits 3 seconds before answering chat for 1 request
    And a streaming request is sent
    Then the request succeeds
    And the metric staticfire_ttft_seconds_count{model="qwen"} is 1
    And the metric staticfire_ttft_seconds_bucket{model="qwen",le="2.5"} is 0
    And the metric staticfire_ttft_seconds_bucket{model="qwen",le="5"} is 1
    And the metric staticfire_request_duration_seconds_count{model="qwen"} is 1

  @id:metrics-of-the-line @should @needs:faults @needs:clock @bundled
  Scenario: Who waits, how long, and who was sent away
    Given an engine "other" that serves
    And the router in front of all engines, set to
      | max_concurrent_requests | 1 |
      | queue_size              | 1 |
    And the router is ready
    When engine "one" waits 20 seconds before answering chat for 1 request
    And 3 JSON requests are on their way to the router
    Then the metric staticfire_queue_waiting is 1
    And the metric staticfire_admission_total{result="full"} is 1
    When all of them are answered
    Then the metric staticfire_queue_waiting is 0
    And the metric staticfire_admission_total{result="waited"} is 1
    And the metric staticfire_queue_wait_seconds_count is 1
    And the metric staticfire_queue_wait_seconds_bucket{le="10"} is 0

  @id:metrics-name-no-address @must @needs:faults @bundled
  Scenario: Workers are named by their ids, in metrics and in the log
    When engine "one" answers chat with 500 for 1 request
    And 3 JSON requests are sent one after another
    And engine "one" resets chat for 1 request
    And a JSON request is sent
    Then no metric and no log line names an engine's address
