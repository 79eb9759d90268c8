Feature: A probe ends when its reply ends, and at its deadline whatever comes
  One deadline covers name lookup, connect, write and read, and nothing that an engine sends moves
  it. A reply is whole by its own framing: neither a socket that is held open nor a dribble is waited
  for, and what was cut off is no reply.

  @id:held-open-socket-is-not-waited-for @must @needs:faults @needs:clock @readiness:22
  Scenario: An answer without a close is accepted at once
    Given an engine "one" that serves
    And engine "one" answers chat without closing
    When a probe asks engine "one"
    Then the verdict is serving
    And the probe took 0 seconds

  @id:endless-dribble-ends-at-the-deadline @must @needs:faults @needs:clock @readiness:23
  Scenario: An endless dribble ends at the deadline
    Given an engine "one" that serves
    And engine "one" dribbles chat 1 byte every 0.5 seconds without end
    When a probe asks engine "one"
    Then the verdict is listing
    And the probe took 8 seconds

  @id:a-byte-every-50-ms-ends-at-a-short-deadline @must @needs:faults @needs:clock @readiness:23
  Scenario: A byte every 50 milliseconds ends at half a second
    Given an engine "one" that serves
    And engine "one" dribbles chat 1 byte every 0.05 seconds without end
    When a probe that waits 0.5 seconds asks engine "one"
    Then the verdict is listing
    And the probe took 0.5 seconds

  @id:hung-accept-ends-at-the-deadline @must @needs:faults @needs:clock @readiness:24
  Scenario: An engine that accepts and stays silent ends at the deadline
    Given an engine "one" that accepts and never answers
    When a probe asks engine "one"
    Then the verdict is broken
    And the probe took 8 seconds

  @id:refused-is-unreachable @must @needs:faults
  Scenario: A refused port is unreachable at once
    Given an engine "one" that refuses
    When a probe asks engine "one"
    Then the verdict is unreachable

  @id:a-chunked-list-is-decoded @must @needs:faults @readiness:25 @rfc:9112-7.1
  Scenario: A model list in chunks is read
    Given a raw engine "one" that answers its list with
      """
      HTTP/1.1 200 OK¶Transfer-Encoding: chunked¶¶
      a¶{"data": [¶
      10¶{"id": "qwen"}]}¶
      0¶¶
      """
    When a probe asks engine "one"
    Then the verdict is serving

  @id:chunks-in-every-shape @must @needs:faults @needs:clock @readiness:26 @rfc:9112-7.1
  Scenario Outline: A chunked answer with <shape> is complete once
    Given a raw engine "one" that answers chat with
      """
      HTTP/1.1 200 OK¶Transfer-Encoding: chunked¶¶
      <first>
      <second>
      <last>
      """
    When a probe asks engine "one"
    Then the verdict is serving
    And the probe took <took> seconds

    Examples:
      | shape                       | first                                   | second                                | last              | took |
      | a size cut in two           | 1                                       | f¶{"model":"qwen","choices":[{}]}     | ¶0¶¶              | 0    |
      | an extension                | 1f;a=b¶{"model":"qwen","choices":[{}]}¶ | [0.5 s]                               | 0;last¶¶          | 0.5  |
      | a trailer                   | 1f¶{"model":"qwen","choices":[{}]}¶     | [0.5 s]                               | 0¶X-Sum: 1¶¶      | 0.5  |
      | a payload like a last chunk | 27¶{"model":"qwen","choices":[{},¶0¶¶   | [0.5 s]                               | ]}¶0¶¶            | 0.5  |

  @id:a-truncated-body-proves-nothing @must @needs:faults @readiness:27 @rfc:9112-6.3
  Scenario: A body of 100 bytes that ends after 40
    Given a raw engine "one" that answers chat with
      """
      HTTP/1.1 200 OK¶Content-Length: 100¶¶{"model": "qwen", "choices": [{"message"
      [close]
      """
    When a probe asks engine "one"
    Then the verdict is broken
    And the verdict says "connection lost"

  @id:a-reset-in-the-body-proves-nothing @must @needs:faults @readiness:28
  Scenario: A reset after the head is a lost connection
    Given a raw engine "one" that answers chat with
      """
      HTTP/1.1 200 OK¶Content-Length: 100¶¶
      [0.1 s]
      [reset]
      """
    When a probe asks engine "one"
    Then the verdict is broken
    And the verdict says "connection lost"

  @id:an-endless-body-stops-at-the-cap @must @needs:faults @readiness:29
  Scenario: An infinite stream of bytes stops at the size cap
    Given a raw engine "one" that answers chat with
      """
      HTTP/1.1 200 OK¶¶
      ................................................................................................
      [for ever]
      """
    When a probe asks engine "one"
    Then the verdict is broken
    And the verdict says "over the limit"

  @id:a-status-without-a-body-ends-at-once @must @needs:faults @needs:clock @readiness:30 @rfc:9112-6.3
  Scenario: 204 on a socket that is held open ends at once, and is no answer
    Given a raw engine "one" that answers chat with
      """
      HTTP/1.1 204 No Content¶¶
      """
    When a probe asks engine "one"
    Then the verdict is misconfigured
    And the probe took 0 seconds

  @id:every-address-is-tried @must @needs:faults @needs:clock @readiness:31
  Scenario: A name with two addresses reaches the engine on the second
    Given an engine "one" that serves
    And the name "localhost" leads to an address where nobody listens, then to engine "one"
    When a probe asks engine "one" at host "localhost"
    Then the verdict is serving

  @id:a-name-lookup-is-within-the-deadline @must @needs:faults @needs:clock @readiness:32
  Scenario: A name that is looked up for ever costs no more than the list's deadline
    Given an engine "one" that serves
    And the name "engine.test" is looked up for ever
    When a probe asks engine "one" at host "engine.test"
    Then the verdict is unreachable
    And the probe took 2 seconds
