Feature: A breaker rests a broken engine, and no longer than it must
  Errors in a row open it, and nothing else does. After the cool-down one request is let through; any
  answer to it proves life. What comes late, from before the breaker opened, changes nothing.

  Background:
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready

  @id:breaker-closes-on-a-clients-mistake @should @needs:faults @needs:clock @bundled @case:B005
  Scenario: A 400 to the probe closes it, and it takes all five errors to open it again
    When engine "sole" answers chat with 500 for 5 requests
    And 5 JSON requests are sent one after another
    And 35 seconds pass
    And engine "sole" answers chat with 400 for 1 request
    And a JSON request is sent
    Then the answer has status 400
    And the breaker of engine "sole" is closed
    When engine "sole" answers chat with 500
    And 4 JSON requests are sent one after another
    Then the breaker of engine "sole" is closed
    When a JSON request is sent
    Then the breaker of engine "sole" is open

  @id:breaker-probe-whose-client-leaves @must @needs:faults @needs:clock @needs:breaker @counts @case:B008
  Scenario Outline: The client of a <kind> probe leaves, and the next request is the probe
    When engine "sole" answers chat with 500 for 5 requests
    And 5 <kind> requests are sent one after another
    And 35 seconds pass
    And engine "sole" never answers chat for 1 request
    And a <kind> request is sent and its client leaves after 1 seconds
    And a <kind> request is sent
    Then the request succeeds

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:breaker-late-errors-rest-it-no-longer @must @needs:faults @needs:clock @needs:breaker @counts @case:B016
  Scenario: Errors that come while it is open do not make the rest longer
    When engine "sole" answers chat with 500 and waits 10 seconds before answering chat for 1 request
    And a JSON request "first" is on its way
    And engine "sole" answers chat with 500 and waits 20 seconds before answering chat for 1 request
    And a JSON request "second" is on its way
    And engine "sole" answers chat with 500 for 5 requests
    And 5 JSON requests are sent one after another
    And a JSON request is sent
    Then the answer has status 503
    When request "first" is answered
    And request "second" is answered
    And 12 seconds pass
    And a JSON request is sent
    Then the request succeeds
