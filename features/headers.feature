Feature: Headers pass where they are of use, and nowhere else
  An engine gets what it can use: content types, sessions, traces, the id of the request. What
  belongs to one connection, or to the client's own place in the network, stays outside. The client
  gets the engine's headers back, less what would lead past the router.

  Background:
    Given an engine "one" that serves
    And the router in front of all engines
    And the router is ready

  @id:headers-traces-pass @must @needs:chat @needs:faults
  Scenario: Traces reach the engine to the letter
    When a JSON request is sent with the headers
      | traceparent | 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 |
      | tracestate  | vendor=a,other=b                                        |
    Then the request succeeds
    And engine "one" saw the header "traceparent" with "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    And engine "one" saw the header "tracestate" with "vendor=a,other=b"

  @id:headers-sessions-pass @must @needs:chat @needs:faults @needs:verbatim
  Scenario: Sessions and accepted encodings reach the engine to the letter
    When a JSON request is sent with the headers
      | X-Session-Id    | s-1        |
      | Accept-Encoding | gzip, br   |
      | Accept          | text/plain |
    Then the request succeeds
    And engine "one" saw the header "X-Session-Id" with "s-1"
    And engine "one" saw the header "Accept-Encoding" with "gzip, br"
    And engine "one" saw the header "Accept" with "text/plain"

  @id:headers-of-a-connection-stay @must @needs:chat @needs:faults @rfc:9110-7.6.1
  Scenario: What belongs to one connection stays there, what Connection names too
    When a JSON request is sent with the headers
      | Connection          | X-Hop, Baggage |
      | X-Hop               | 1              |
      | Baggage             | a=b            |
      | Keep-Alive          | timeout=5      |
      | TE                  | trailers       |
      | Proxy-Authorization | Basic abc      |
      | tracestate          | a=b            |
    Then the request succeeds
    And engine "one" saw no header "X-Hop"
    And engine "one" saw no header "Baggage"
    And engine "one" saw no header "Keep-Alive"
    And engine "one" saw no header "TE"
    And engine "one" saw no header "Proxy-Authorization"
    And engine "one" saw the header "tracestate" with "a=b"

  @id:headers-only-what-engines-use @must @needs:chat @needs:faults @bundled
  Scenario: Cookies, the client's address and made-up names do not reach an engine
    When a JSON request is sent with the headers
      | Cookie               | session=secret |
      | X-Forwarded-For      | 10.1.2.3       |
      | X-Anything           | 1              |
      | X-Data-Parallel-Rank | 3              |
    Then the request succeeds
    And engine "one" saw no header "Cookie"
    And engine "one" saw no header "X-Forwarded-For"
    And engine "one" saw no header "X-Anything"
    And engine "one" saw no header "X-Data-Parallel-Rank"

  @id:headers-more-by-setting @should @needs:chat @needs:faults @bundled
  Scenario: A setting lets more names through
    Given the router in front of all engines, set to
      | forward_headers | X-Tenant, X-My-* |
    And the router is ready
    When a JSON request is sent with the headers
      | x-tenant | blue |
      | X-My-Own | 1    |
      | X-Your   | 2    |
    Then engine "one" saw the header "X-Tenant" with "blue"
    And engine "one" saw the header "X-My-Own" with "1"
    And engine "one" saw no header "X-Your"

  @id:headers-a-requests-id-is-kept @must @needs:chat @needs:faults @needs:request-ids
  Scenario Outline: The id that a <kind> request brings reaches the engine
    When a <kind> request is sent with the headers
      | X-Request-Id | my-request-1 |
    Then the request succeeds
    And engine "one" saw the header "X-Request-Id" with "my-request-1"

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:headers-a-requests-id-comes-back @must @needs:chat @needs:faults @bundled
  Scenario Outline: A client finds the id of its <kind> request at the answer too
    When a <kind> request is sent with the headers
      | X-Request-Id | my-request-1 |
    Then the request succeeds
    And the answer has header "X-Request-Id" with "my-request-1"

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:headers-an-id-is-made @should @needs:chat @needs:faults @bundled
  Scenario: A request without an id gets one, and so does one whose id could forge a log line
    When a JSON request is sent with the headers
      | Accept | text/plain |
    Then engine "one" saw the header "x-request-id" of the answer
    When a JSON request is sent with the headers
      | X-Request-Id | two words |
    Then engine "one" saw the header "x-request-id" of the answer
    And the last 2 answers differ in the header "x-request-id"

  @id:headers-an-error-has-the-id-too @should @needs:chat @bundled
  Scenario: What the router says by itself carries the request's id, and a mark that it is ours
    When a JSON request for model "nobody" is sent
    Then the answer has status 404
    And the answer has header "x-request-id" with "judge-1"
    And the answer has header "x-staticfire-error" with "model_not_found"

  @id:headers-say-who-answered @should @needs:chat @bundled
  Scenario: The answer tells which worker it was, and after how many attempts
    When a JSON request is sent
    Then the answer has header "x-staticfire-worker" with "w00"
    And the answer has header "x-staticfire-attempts" with "1"
    And no answer names an engine's address

  @id:headers-an-upload-has-its-length @should @needs:chat @needs:faults @rfc:9112-6.3 @case:B110
  Scenario: The engine is sent a length and no chunks
    When a JSON request is sent
    Then the request succeeds
    And engine "one" saw no header "Transfer-Encoding"
    And engine "one" saw its body's length

  @id:headers-encodings-are-the-engines @must @needs:faults @needs:verbatim @case:B109
  Scenario: The encoding of an answer passes with its bytes, and nobody unpacks them
    When engine "one" claims gzip for chat for 1 request
    And a JSON request is sent
    Then the answer has status 200
    And the answer has header "Content-Encoding" with "gzip"
    And the answer names the model "qwen"
