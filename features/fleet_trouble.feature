Feature: One engine in trouble is no trouble for the others
  Symptoms that were reported of other routers, for which no other page here has a place.

  @id:trouble-a-burst-of-429 @must @needs:faults @case:B004
  Scenario Outline: A fleet that sheds a burst of <kind> requests loses no engine
    Given 3 engines that serve
    And the router in front of all engines
    And the router is ready
    When engine "e00" answers chat with 429 for 8 requests
    And engine "e01" answers chat with 429 for 8 requests
    And engine "e02" answers chat with 429 for 8 requests
    And 24 <kind> requests are sent at once
    And 9 <kind> requests are sent one after another
    Then the last 9 answers have status 200
    And every engine got at least 9 requests from clients

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:trouble-one-that-hangs @must @needs:faults @needs:clock @needs:gateway-errors @case:B092
  Scenario: An engine that never answers keeps its own requests, for the time allowed, and no other
    Given 2 engines that serve
    And the router in front of all engines, set to
      | request_timeout_secs | 30 |
    And the router is ready
    When engine "e00" never answers chat
    And 4 JSON requests are on their way to the router
    And all of them are answered
    Then 2 of the answers have status 504
    And 2 of the answers have status 200
    And every engine got 2 requests from clients

  @id:trouble-a-long-line @must @needs:faults @needs:stream @case:B038
  Scenario: A line of two million bytes passes whole, and a reset in the middle shows
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" sends a line that is 2000000 bytes longer in chat for 1 request
    And a streaming request is sent
    Then the answer is whole
    And the body has more than 2000000 bytes
    When engine "sole" sends a line that is 2000000 bytes longer in chat and truncates chat after 1000000 bytes with a reset
    And a streaming request is sent
    Then the failure is visible
    And the stream does not say [DONE]

  @id:trouble-no-404-while-it-loads @must @needs:faults @needs:clock @case:B103
  Scenario: A model that is listed and not served yet is never called unknown
    Given an engine "late" that loads for 20 seconds and is listed and never answers chat, then serves
    And the router in front of all engines
    When a JSON request is sent
    And 1 seconds pass
    And a JSON request is sent
    Then the last 2 answers have status 503
    And the answer has header "Retry-After"
