@needs:pairs
Feature: Prefill and decode are two legs of one request
  One engine reads the prompt, another one makes the tokens, and the cache goes from the first to the
  second. vLLM's legs are asked one after the other: the prefill leg says where its cache lies, the
  decode leg is told. SGLang's legs are asked at once and meet in a room. Each leg has its own
  breaker: the first failure decides, the other leg is let go, and only the one that failed is blamed.

  @id:pd-vllm-in-turn @must @needs:faults
  Scenario Outline: A <kind> request goes to the prefill leg first, then to the decode leg with its words
    Given a vLLM prefill leg "p" that serves
    And a vLLM decode leg "d" that serves
    And the router in front of the legs
    And the router is ready
    When a <kind> request is sent
    Then the request succeeds
    And the answer names engine "d"
    And engine "p" was asked to make 1 token for another leg
    And engine "d" was told where the cache of engine "p" lies

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:pd-sglang-at-once @must @needs:faults
  Scenario Outline: A <kind> request goes to both legs at once, and they meet in one room
    Given a SGLang prefill leg "p" that serves
    And a SGLang decode leg "d" that serves
    And the router in front of the legs
    And the router is ready
    When a <kind> request is sent
    Then the request succeeds
    And the answer names engine "d"
    And engines "p" and "d" met in one room

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:pd-ready-with-one-of-each @must @needs:readiness @needs:faults @needs:clock @case:B068
  Scenario: A router with prefill legs only is not ready, and says which leg is missing
    Given a vLLM prefill leg "p" that serves
    And a vLLM decode leg "d" that refuses for 20 seconds
    And the router in front of the legs
    When it is 5 s
    Then the router is not ready
    When a JSON request is sent
    Then the answer has status 503
    And the answer has header "Retry-After"
    And no answer names an engine's address
    When it is 23 s
    And the router is ready within 1 seconds
    And a JSON request is sent
    Then the request succeeds

  @id:pd-decode-fails-prefill-is-let-go @must @needs:telling @needs:faults @needs:clock @case:B142
  Scenario: When decode resets, the prefill leg that still holds is let go, and only decode is blamed
    Given a SGLang prefill leg "p" that serves
    And a SGLang decode leg "d" that serves
    And the router in front of the legs, set to
      | disable_retries | yes |
    And the router is ready
    When engine "p" never answers chat
    And engine "d" resets chat
    And a JSON request is sent
    Then the answer has status 502
    And engine "p" saw its client leave after 0 seconds
    And the router counted for engine "p"
      | cancelled | 1 |
    And the router counted for engine "d"
      | error | 1 |

  @id:pd-prefill-fails-decode-is-let-go @must @needs:telling @needs:faults @needs:clock @case:B142
  Scenario Outline: When prefill <fails>, the decode leg that waits is let go, and only prefill is blamed
    Given a SGLang prefill leg "p" that serves
    And a SGLang decode leg "d" that serves
    And the router in front of the legs, set to
      | disable_retries | yes |
    And the router is ready
    When engine "p" <fails>
    And engine "d" never answers chat
    And a <kind> request is sent
    Then the answer has status <status>
    And engine "d" saw its client leave after 0 seconds
    And the router counted for engine "p"
      | <outcome> | 1 |
    And the router counted for engine "d"
      | cancelled | 1 |

    Examples:
      | fails                                            | kind      | status | outcome      |
      | resets chat                                      | JSON      | 502    | error        |
      | resets chat                                      | streaming | 502    | error        |
      | answers chat with 500                            | JSON      | 500    | error        |
      | answers chat with 503                            | streaming | 503    | backpressure |
      | answers chat with 400                            | JSON      | 400    | client_error |
      | truncates chat after 10 bytes                    | JSON      | 502    | error        |

  @id:pd-vllm-prefill-decides @must @needs:telling @needs:faults
  Scenario Outline: A prefill leg that <fails> decides: the client gets <status>, no decode leg is asked
    Given a vLLM prefill leg "p" that serves
    And a vLLM decode leg "d" that serves
    And the router in front of the legs, set to
      | disable_retries | yes |
    And the router is ready
    When engine "p" <fails>
    And a streaming request is sent
    Then the answer has status <status>
    And engine "d" got 0 requests from clients
    And the breaker of engine "d" is closed

    Examples:
      | fails                 | status |
      | answers chat with 400 | 400    |
      | answers chat with 503 | 503    |
      | answers chat with 500 | 500    |
      | resets chat           | 502    |

  @id:pd-each-leg-has-its-breaker @must @needs:telling @needs:faults @needs:clock @case:B011
  Scenario: A decode leg with an open breaker gets nothing, then one probe
    Given a vLLM prefill leg "p" that serves
    And a vLLM decode leg "bad" that serves
    And a vLLM decode leg "good" that serves
    And the router in front of the legs, set to
      | disable_retries | yes |
    And the router is ready
    When engine "bad" answers chat with 500
    And 10 JSON requests are sent one after another
    Then engine "bad" got 5 requests from clients
    And the breaker of engine "bad" is open
    And the breaker of engine "p" is closed
    When 10 JSON requests are sent one after another
    Then the last 10 answers have status 200
    And engine "bad" got 5 requests from clients
    When 31 seconds pass
    And 10 JSON requests are sent one after another
    Then engine "bad" got 6 requests from clients
    And the breaker of engine "bad" is open

  @id:pd-client-leaves-both @must @needs:telling @needs:faults @needs:clock
  Scenario: A client that leaves lets both legs go
    Given a SGLang prefill leg "p" that serves
    And a SGLang decode leg "d" that serves
    And the router in front of the legs
    And the router is ready
    When engine "p" never answers chat
    And engine "d" never answers chat
    And a JSON request is sent and its client leaves after 1 seconds
    And 1 seconds pass
    Then engine "p" saw its client leave after 1 seconds
    And engine "d" saw its client leave after 1 seconds
    And the breaker of engine "p" is closed
    And the breaker of engine "d" is closed

  @id:pd-cut-stays-a-cut @must @needs:telling @needs:faults
  Scenario Outline: A decode leg that dies in the middle is a visible cut, and prefill is not blamed
    Given a <dialect> prefill leg "p" that serves
    And a <dialect> decode leg "d" that serves
    And the router in front of the legs
    And the router is ready
    When engine "d" truncates chat after 2 events with a reset
    And a streaming request is sent
    Then the answer is cut
    And the stream does not say [DONE]
    And the router counted for engine "p"
      | success | 1 |
    And the router counted for engine "d"
      | error | 1 |

    Examples:
      | dialect |
      | vLLM    |
      | SGLang  |

  @id:pd-a-cut-shows @must @needs:faults
  Scenario Outline: A <dialect> decode leg that dies in the middle is a visible cut
    Given a <dialect> prefill leg "p" that serves
    And a <dialect> decode leg "d" that serves
    And the router in front of the legs
    And the router is ready
    When engine "d" truncates chat after 2 events with a reset
    And a streaming request is sent
    Then the stream does not say [DONE]
    And the failure is visible
    And 2 events came before the cut

    Examples:
      | dialect |
      | vLLM    |
      | SGLang  |

  @id:pd-a-leaver-frees-both @must @needs:faults @needs:clock
  Scenario: Both legs hear of it when the client leaves
    Given a SGLang prefill leg "p" that serves
    And a SGLang decode leg "d" that serves
    And the router in front of the legs
    And the router is ready
    When engine "p" never answers chat
    And engine "d" never answers chat
    And a JSON request is sent and its client leaves after 1 seconds
    Then engine "p" saw its client leave after 1 seconds
    And engine "d" saw its client leave after 1 seconds

  @id:pd-another-pair-takes-over @must @needs:retries @needs:faults
  Scenario Outline: When the <role> leg of a pair is busy, another one takes its place
    Given a <dialect> prefill leg "p0" that serves
    And a <dialect> prefill leg "p1" that serves
    And a <dialect> decode leg "d0" that serves
    And a <dialect> decode leg "d1" that serves
    And the router in front of the legs
    And the router is ready
    When engine "<busy>" answers chat with 503
    And 4 streaming requests are sent one after another
    Then every request succeeds

    Examples:
      | dialect | role    | busy |
      | vLLM    | prefill | p0   |
      | vLLM    | decode  | d0   |
      | SGLang  | prefill | p0   |
      | SGLang  | decode  | d0   |
