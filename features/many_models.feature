Feature: Many models behind one address
  Each model has its own engines, its own turns and its own sessions. A name that nobody knows is
  told from one that nobody serves now. An alias is another name for a model, and the engine is
  asked by its own.

  @id:each-model-has-its-engines @must @needs:faults @needs:clock @needs:models @needs:turns
  Scenario: Requests go to engines of their model, whose turns do not mix
    Given 2 engines of model "qwen", the last after 1 seconds
    And 2 engines of model "llama", the last after 1 seconds
    And the router in front of all engines
    When it is 4 s
    And the router has had 1 seconds to notice
    And 4 JSON requests for model "qwen" are sent one after another
    And 4 JSON requests for model "llama" are sent one after another
    Then every request succeeds
    And engine "qwen0" got 2 requests from clients
    And engine "qwen1" got 2 requests from clients
    And engine "llama0" got 2 requests from clients
    And engine "llama1" got 2 requests from clients

  @id:unknown-until-all-have-listed @must @needs:faults @needs:clock @needs:models @case:B074
  Scenario: While an engine has not listed its models, an unknown name may still come
    Given an engine "early" that serves
    And an engine "late" that refuses for 30 seconds
    And the router in front of all engines
    And the router is ready
    When a JSON request for model "another" is sent
    Then the answer has status 503
    And the answer has header "Retry-After"
    When it is 33 s
    And a JSON request for model "another" is sent
    Then the answer has status 404

  @id:a-request-without-a-model @should @needs:faults @needs:clock @bundled
  Scenario: Without a name the only model is meant; with two, nobody is guessed
    Given 1 engines of model "qwen", the last after 1 seconds
    And the router in front of all engines
    When it is 3 s
    And a JSON request without a model is sent
    Then the request succeeds

  @id:a-request-without-one-of-two @should @needs:faults @needs:clock @bundled
  Scenario: Of two models one has to be named
    Given 1 engines of model "qwen", the last after 1 seconds
    And 1 engines of model "llama", the last after 1 seconds
    And the router in front of all engines
    When it is 3 s
    And a JSON request without a model is sent
    Then the answer has status 400
    And the answer has header "x-staticfire-error" with "model_required"

  @id:an-alias-is-another-name @should @needs:faults @needs:clock @bundled
  Scenario: A request for an alias reaches the model, under the model's own name
    Given an engine "one" that serves
    And the router in front of all engines, set to
      | model_alias | small=qwen |
    And the router is ready
    Then the router lists the models qwen, small
    When a JSON request for model "small" is sent
    Then the request succeeds
    And engine "one" was asked for the models qwen

  @id:each-try-begins-anew @must @needs:faults @needs:clock @bundled @case:B025 @case:B137
  Scenario: A retry carries the key and the name of the worker that it goes to, and no other's
    Given 1 engines of model "a", the last after 1 seconds
    And 1 engines of model "b", the last after 1 seconds
    And engine "a0" needs the key "key-a" for everything
    And engine "b0" needs the key "key-b" for everything
    And an engine "other" that serves
    And the router in front of engine "other", set to
      | model_alias | m=a, m=b |
    When the router adds engine "a0" with the key "key-a"
    And the router adds engine "b0" with the key "key-b"
    And it is 5 s
    And engine "a0" answers chat with 503
    And 2 JSON requests for model "m" are sent one after another
    Then every request succeeds
    And engine "a0" was asked for the models a
    And engine "b0" was asked for the models b
    And engine "b0" never saw "key-a"
    And engine "a0" never saw "key-b"
