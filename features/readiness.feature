Feature: Ready means that a request sent now is answered
  An engine lists its model while the weights still load. Whoever takes the listing for readiness
  sends users to an engine that cannot answer. Readiness is a completed inference, never a listing.

  @id:ready-service-serves @must @needs:listing @needs:chat
  Scenario: A service reported ready can immediately serve inference
    Given an engine "service" that serves
    When the service on engine "service" is reported ready
    Then engine "service" lists the model
    When a JSON request is sent to engine "service"
    Then the request succeeds within 1 seconds

  @id:ready-service-serves-through-the-router @must @needs:listing @needs:chat
  Scenario: A router that says it is ready answers the first request
    Given an engine "service" that serves
    And the router in front of all engines
    When the router is ready
    And a JSON request is sent
    Then the request succeeds

  @id:ready-service-streams-through-the-router @must @needs:listing @needs:stream
  Scenario: A router that says it is ready answers a stream to its end
    Given an engine "service" that serves
    And the router in front of all engines
    When the router is ready
    And a streaming request is sent
    Then the request succeeds
    And the answer is whole

  @id:listed-and-silent-is-not-ready @must @needs:faults @needs:clock @readiness:1
  Scenario: An engine that lists its model and holds chat open is loading
    Given an engine "slow" that loads and never answers chat
    And a watch on engine "slow"
    When the watch checks once
    Then its status is running
    And its reason says "the model is listed"

  @id:first-answer-makes-it-ready @must @needs:faults @needs:clock @readiness:2
  Scenario: The first answered inference makes it ready
    Given an engine "fine" that refuses for 3 seconds
    And a watch on engine "fine"
    When the watch checks every 1 seconds for 5 seconds
    Then it became ready at 3 s
    And its changes were shown as running, ready

  @id:loading-503-is-still-coming-up @must @needs:faults @needs:clock @readiness:3
  Scenario: Chat answers 503 for a minute of loading
    Given an engine "slow" that loads for 60 seconds, then serves
    And a watch on engine "slow"
    When the watch checks every 5 seconds for 70 seconds
    Then it became running at 0 s
    And it became ready at 60 s
    And it was never degraded
    And it was never misconfigured

  @id:listed-is-not-ready @must @needs:faults @needs:clock @readiness:1 @readiness:4
  Scenario: Listed at 4 seconds and answering at 364 seconds
    Given an engine "slow" that refuses for 4 seconds, then loads for 360 seconds and never answers chat, then serves
    And a watch on engine "slow"
    When the watch checks every 5 seconds for 400 seconds
    Then it became running at 5 s
    And it became ready at 365 s
    And it was never failed
    And engine "slow" was never probed twice within 15 seconds

  @id:slow-first-token-is-not-death @must @needs:faults @needs:clock @readiness:9
  Scenario: The first token comes after 20 seconds
    Given an engine "slow" with 1 slots, 20 seconds a request
    And a watch on engine "slow"
    When the watch checks once
    Then it became ready at 20 s
    And engine "slow" was probed 1 times

  @id:empty-content-is-an-answer @must @needs:faults @readiness:10
  Scenario: A reasoning model that answers without content is ready
    Given a raw engine "thinks" that answers chat with
      """
      HTTP/1.1 200 OK¶Content-Length: 84¶¶
      {"model": "qwen", "choices": [{"message": {"role": "assistant", "content": null}}]}\n
      """
    When a probe asks engine "thinks"
    Then the verdict is serving

  @id:an-embeddings-model-is-never-sent-chat @must @needs:faults @readiness:11
  Scenario: A model without chat is asked on its own route
    Given an embeddings engine "vectors"
    When a probe of kind "embeddings" asks engine "vectors"
    Then the verdict is serving
    And engine "vectors" was asked 1 times for "POST /v1/embeddings"
    And engine "vectors" got 0 chat requests

  @id:a-completion-model-is-asked-for-a-completion @should @needs:faults
  Scenario: A base model is asked on the completion route
    Given an engine "base" that serves
    And engine "base" answers chat with 404
    When a probe of kind "completion" asks engine "base"
    Then the verdict is serving
    And engine "base" was asked 1 times for "POST /v1/completions"
    And engine "base" got 0 chat requests

  @id:a-restart-clears-the-evidence @must @needs:faults @needs:clock @readiness:48
  Scenario: Ready, restarted, and the new life only lists
    Given an engine "one" that serves
    And a watch on engine "one"
    When the watch checks once
    Then its status is ready
    When engine "one" never answers chat
    And the watched engine begins a new life
    Then its status is starting
    When the watch checks once
    Then its status is running

  @id:another-organization-is-another-model @must @needs:faults @readiness:55
  Scenario: The same name from another organization is not our model
    Given an engine "one" of model "other-org/qwen"
    When a probe asks engine "one"
    Then the verdict is misconfigured
    And the verdict says "qwen is not listed; listed: other-org/qwen"
    And engine "one" got 0 chat requests

  @id:a-swapped-model-is-not-ready @must @needs:faults @needs:clock @readiness:56
  Scenario: The engine drops our model for another
    Given an engine "one" that serves
    And a watch on engine "one"
    When the watch checks once
    And engine "one" answers models with 200 and body "{"data": [{"id": "phi"}]}"
    And the watch checks once
    Then its status is running
    And its reason says "qwen is not listed; listed: phi"
    When the watch checks every 5 seconds for 20 seconds
    Then its status is misconfigured

  @id:ten-warming-engines-cost-one-deadline @must @needs:faults @needs:clock @readiness:62
  Scenario: Ten engines that hang are listed within one budget
    Given 9 engines that serve
    And an engine "slow" that loads and never answers chat
    And engine "e00" never answers chat
    And engine "e01" never answers chat
    And engine "e02" never answers chat
    When all engines are checked side by side within 8 seconds
    Then the checks took 8 seconds
    And 4 engines are running

  @id:one-slow-engine-blocks-no-other @must @needs:faults @needs:clock @readiness:63
  Scenario: One engine hangs and nine are judged on time
    Given 9 engines that serve
    And an engine "hung" that accepts and never answers
    When all engines are checked side by side within 8 seconds
    Then the checks took 2 seconds
    And 9 engines are ready

  @id:a-router-skips-who-still-loads @must @needs:faults @needs:clock @needs:health @readiness:66
  Scenario: A hundred requests all reach the engine that is ready
    Given an engine "loading" that loads and never answers chat
    And an engine "fine" that serves
    And the router in front of all engines
    When the router is ready
    And the router has had 1 seconds to notice
    And 100 JSON requests are sent at once
    Then every request succeeds
    And engine "fine" got 100 requests from clients
    And engine "loading" got 0 requests from clients

  @id:nobody-ready-is-told-at-once @must @needs:faults @needs:clock @needs:health @readiness:67
  Scenario: With nobody ready a request is answered 503 with Retry-After
    Given an engine "loading" that loads and never answers chat
    And the router in front of all engines
    When it is 20 s
    And a JSON request is sent
    Then the answer has status 503
    And the answer has header "Retry-After"

  @id:every-path-agrees @must @needs:faults @needs:clock @bundled @readiness:68
  Scenario Outline: Every path says <verdict> of an engine that <does>
    Given an engine "one" that <does>
    Then every path says <verdict> of engine "one"

    Examples:
      | does                           | verdict       |
      | serves                         | serving       |
      | refuses                        | unreachable   |
      | accepts and never answers      | broken        |
      | loads                          | busy          |
      | loads and never answers chat   | listing       |
      | serves and answers chat with 401 | misconfigured |
      | serves and answers chat with 404 | misconfigured |
      | serves and answers chat with 500 | broken        |
      | serves and resets chat         | broken        |
      | sleeps                         | listing       |

  @id:every-command-agrees @must @needs:faults @realtime @readiness:68
  Scenario Outline: Every command says <verdict> of an engine that <does>
    Given an engine "one" that <does>
    Then every command says <verdict> of engine "one"

    Examples:
      | does                             | verdict       |
      | serves                           | serving       |
      | refuses                          | unreachable   |
      | loads                            | busy          |
      | loads and never answers chat     | listing       |
      | serves and answers chat with 401 | misconfigured |
