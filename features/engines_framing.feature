Feature: Mock engines break the rules of HTTP exactly as named
  Heads that are none, lengths that lie, chunks that do not add up. The judge reads what arrived byte
  by byte and says which rule it is against.

  Background:
    Given an engine "one" that serves

  @id:engine-states-a-wrong-length @must @needs:faults @needs:clock @case:B106 @case:B107 @rfc:9112-6.3
  Scenario Outline: states <length> for a <kind> answer
    When engine "one" states <length> for chat
    And a <kind> request is sent to engine "one"
    Then the answer is <end>
    And the judge notes "<note>"

    Examples:
      | length                     | kind      | end       | note                         |
      | too short a length         | JSON      | whole     | bytes after the answer's end |
      | too short a length         | streaming | whole     | bytes after the answer's end |
      | too long a length          | JSON      | cut       | peer closed connection       |
      | too long a length          | streaming | cut       | peer closed connection       |
      | a negative length          | JSON      | malformed | bad Content-Length           |
      | a length that is no number | streaming | malformed | bad Content-Length           |
      | two lengths                | JSON      | malformed | conflicting Content-Length   |
      | a length beside chunks     | JSON      | whole     | RFC 9112, 6.2                |
      | a length beside chunks     | streaming | whole     | RFC 9112, 6.2                |

  @id:engine-length-too-long-waits @must @needs:faults @needs:clock
  Scenario: What a length promised beyond the body never comes, until the engine closes as ever
    When engine "one" states too long a length for chat
    And a JSON request is sent to engine "one"
    Then the answer is cut
    And the answer took 5 seconds
    When engine "one" answers chat without closing and states too long a length for chat
    And a JSON request is sent to engine "one" by a client that waits 600 seconds
    Then the answer is unfinished

  @id:engine-sends-a-bad-chunk @must @needs:faults @needs:clock @rfc:9112-7.1
  Scenario Outline: sends a <chunk> in a <kind> answer
    When engine "one" sends a <chunk> in chat
    And a <kind> request is sent to engine "one"
    Then the answer has header "transfer-encoding" with "chunked"
    And the answer is <end>

    Examples:
      | chunk                        | kind      | end       |
      | chunk size that is no number | JSON      | malformed |
      | chunk size that is no number | streaming | malformed |
      | negative chunk size          | JSON      | malformed |
      | huge chunk size              | streaming | cut       |
      | chunk smaller than its size  | JSON      | cut       |
      | chunk smaller than its size  | streaming | malformed |

  @id:engine-omits-the-last-chunk @must @needs:faults @needs:clock @rfc:9112-7.1
  Scenario: ends without the last chunk
    When engine "one" ends chat without the last chunk
    And a streaming request is sent to engine "one"
    Then the answer is cut
    And the stream says [DONE]
    When a JSON request is sent to engine "one"
    Then the answer is cut
    When engine "one" answers chat without closing and ends chat without the last chunk
    And a streaming request is sent to engine "one"
    Then the answer is unfinished
    And the stream says [DONE]

  @id:engine-sends-trailers @must @needs:faults @rfc:9112-7.1.2
  Scenario Outline: ends a <kind> answer with trailers
    When engine "one" ends chat with trailers
    And a <kind> request is sent to engine "one"
    Then the request succeeds
    And the answer has trailer "x-checksum" with "0"

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:engine-sends-a-bad-status-line @must @needs:faults @rfc:9112-4
  Scenario Outline: begins with the line <line>
    When engine "one" begins chat with the line "<line>"
    And a JSON request is sent to engine "one"
    Then the answer is <end>
    And the head has the line "<line>"

    Examples:
      | line               | end       |
      | HTTP/1.1 banana OK | malformed |
      | HTTP/1.1 099 Odd   | malformed |
      | HTTP/1.1 1000 Odd  | malformed |
      | HTTP/1.1 999 Odd   | whole     |
      | HTTP/1.1 200       | whole     |
      | HTTP/2.0 200 OK    | whole     |
      | HELLO              | malformed |

  @id:engine-answers-999 @must @needs:faults
  Scenario: answers 999
    When engine "one" answers chat with 999
    And a JSON request is sent to engine "one"
    Then the answer has status 999

  @id:engine-answers-without-a-head @must @needs:faults
  Scenario Outline: answers a <kind> request without a head, as HTTP/0.9
    When engine "one" answers chat without a head
    And a <kind> request is sent to engine "one"
    Then the answer is malformed
    And the judge notes "does not begin as an HTTP answer"

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:engine-speaks-another-protocol @must @needs:faults @case:B077
  Scenario Outline: answers in <protocol>
    When engine "one" answers chat in <protocol>
    And a JSON request is sent to engine "one"
    Then the answer is malformed
    And the judge notes "does not begin as an HTTP answer"

    Examples:
      | protocol |
      | SSH      |
      | SMTP     |
      | Redis    |
      | TLS      |
      | HTTP/2   |

  @id:engine-sends-a-bad-header @must @needs:faults @rfc:9112-5
  Scenario Outline: sends a header <header>
    When engine "one" sends a header <header> in chat
    And a JSON request is sent to engine "one"
    Then the answer is <end>
    And the judge notes "<note>"

    Examples:
      | header                        | end       | note                |
      | without a colon               | malformed | illegal header line |
      | without a name                | malformed | illegal header line |
      | folded                        | whole     | RFC 9112, 5.2       |
      | with a NUL                    | malformed | illegal header line |
      | in Latin-1                    | whole     | RFC 9110, 5.5       |
      | with a space before its colon | malformed | illegal header line |
      | with a bare CR                | malformed | illegal header line |
      | with a bare LF                | whole     | RFC 9112, 2.2       |

  @id:engine-sends-many-headers @must @needs:faults
  Scenario: sends 200 more headers
    When engine "one" sends 200 more headers in chat
    And a JSON request is sent to engine "one"
    Then the request succeeds
    And the head has more than 200 lines
    And the framing is without fault

  @id:engine-sends-a-huge-header @must @needs:faults
  Scenario Outline: sends a header of <bytes> bytes
    When engine "one" sends a header of <bytes> bytes in chat
    And a JSON request is sent to engine "one"
    Then the request succeeds
    And the head has more than <bytes> bytes
    And the framing is without fault

    Examples:
      | bytes   |
      | 65536   |
      | 1000000 |

  @id:engine-sends-an-interim-answer @must @needs:faults @rfc:9110-15.2
  Scenario Outline: sends <interim> before the answer
    When engine "one" sends <interim> before chat
    And a JSON request is sent to engine "one"
    Then the request succeeds
    And the interim answers were <statuses>

    Examples:
      | interim        | statuses      |
      | an interim 100 | 100           |
      | an interim 102 | 102           |
      | an interim 103 | 103           |
      | 2 interim 100  | 100, 100      |
      | 2 interim 102  | 102, 102      |
      | 3 interim 103  | 103, 103, 103 |

  @id:engine-sends-only-an-interim-answer @must @needs:faults @needs:clock @rfc:9110-15.2
  Scenario Outline: sends only an interim <status>
    When engine "one" sends only an interim <status> for chat
    And a JSON request is sent to engine "one" by a client that waits 60 seconds
    Then the answer is silent
    And the interim answers were <status>

    Examples:
      | status |
      | 100    |
      | 102    |
      | 103    |

  @id:engine-switches-protocols @must @needs:faults @rfc:9110-15.2.2
  Scenario: switches protocols though nobody asked
    When engine "one" switches protocols in chat
    And a JSON request is sent to engine "one"
    Then the answer is malformed
    And the head has the line "HTTP/1.1 101 Switching Protocols"

  @id:engine-sends-a-forbidden-body @must @needs:faults @rfc:9112-6.3
  Scenario Outline: sends a body with a <status>
    When engine "one" sends a body with a <status> for chat
    And a JSON request is sent to engine "one"
    Then the answer has status <status>
    And the body is empty
    And the judge notes "bytes after the answer's end"

    Examples:
      | status |
      | 204    |
      | 304    |

  @id:engine-answers-twice @must @needs:faults @rfc:9112-9.2
  Scenario Outline: answers a <kind> request twice, and a careless pool hands the second on
    When engine "one" answers chat twice for 1 request
    And a <kind> request is sent to engine "one" on connection "kept"
    Then the request succeeds
    And the judge notes "another answer"
    When a JSON request is sent to engine "one" on connection "kept"
    Then the answer says "an answer that nobody asked for"

    Examples:
      | kind      |
      | JSON      |
      | streaming |
