Feature: What is not HTTP is never passed on as if it were
  An engine whose answer breaks the rules, or ends before its own framing says so, is not believed: a
  client gets a 502, or a cut where its answer had begun. Nothing is repaired into a whole, nothing
  is followed to another place, and a client's own broken request reaches no engine.

  @id:malformed-json @must @needs:faults @needs:gateway-errors @rfc:9112-6.3
  Scenario Outline: A JSON answer is a 502 where the engine <does>
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" <does>
    And a JSON request is sent and its client leaves after 3600 seconds
    Then the answer has status 502
    And no answer names an engine's address
    And engine "sole" got 1 requests from clients

    Examples:
      | does                                                 |
      | begins chat with the line "HTTP/1.1 banana OK"       |
      | begins chat with the line "HTTP/1.1 1000 Odd"        |
      | begins chat with the line "HTTP/1.1 099 Odd"         |
      | begins chat with the line "HTTP/2.0 200 OK"          |
      | begins chat with the line "HELLO"                    |
      | answers chat with 999                                |
      | answers chat without a head                          |
      | answers chat in SSH                                  |
      | answers chat in TLS                                  |
      | answers chat in HTTP/2                               |
      | closes chat without answering                        |
      | resets chat                                          |
      | truncates chat after 20 bytes of the wire            |
      | truncates chat after 0 bytes                         |
      | truncates chat after 10 bytes                        |
      | truncates chat after 10 bytes with a reset           |
      | ends chat without the last chunk                     |
      | sends a chunk size that is no number in chat         |
      | sends a negative chunk size in chat                  |
      | sends a huge chunk size in chat                      |
      | states too short a length for chat                   |
      | states a negative length for chat                    |
      | states a length that is no number for chat           |
      | states two lengths for chat                          |
      | states a length beside chunks for chat               |
      | sends a header without a colon in chat               |
      | sends a header without a name in chat                |
      | sends a header folded in chat                        |
      | sends a header with a NUL in chat                    |
      | sends a header with a space before its colon in chat |
      | sends a header with a bare CR in chat                |
      | sends a header with a bare LF in chat                |
      | sends a header of 1000000 bytes in chat              |
      | switches protocols in chat                           |

  @id:malformed-shows @must @needs:stream @needs:faults @needs:clock @rfc:9112-6.3
  Scenario Outline: A <kind> answer of an engine that <does> is never a success
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" <does>
    And a <kind> request is sent and its client leaves after 60 seconds
    Then the failure is visible

    Examples:
      | kind      | does                                           |
      | JSON      | truncates chat after 10 bytes                  |
      | JSON      | begins chat with the line "HTTP/1.1 banana OK" |
      | JSON      | answers chat without a head                    |
      | JSON      | answers chat in SSH                            |
      | JSON      | closes chat without answering                  |
      | streaming | resets chat                                    |
      | JSON      | truncates chat after 20 bytes of the wire      |
      | JSON      | ends chat without the last chunk               |
      | JSON      | sends a chunk size that is no number in chat   |
      | JSON      | sends a negative chunk size in chat            |
      | JSON      | switches protocols in chat                     |

  @id:mended-or-failed @must @needs:stream @needs:faults @needs:clock @rfc:9112-6.3
  Scenario Outline: A <kind> answer of an engine that <does> arrives whole or fails; a part is no whole
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" <does>
    And a <kind> request is sent and its client leaves after 60 seconds
    Then the client is not deceived

    Examples:
      | kind      | does                                   |
      | JSON      | states a length beside chunks for chat |
      | streaming | states a length beside chunks for chat |
      | JSON      | states a negative length for chat      |
      | JSON      | states two lengths for chat            |
      | JSON      | sends a header without a colon in chat |
      | JSON      | sends a header folded in chat          |
      | JSON      | sends a header with a NUL in chat      |
      | JSON      | sends a header with a bare LF in chat  |

  @id:malformed-stream-head @must @needs:stream @needs:faults @needs:gateway-errors @rfc:9112-6.3
  Scenario Outline: A stream is a 502 where the engine <does>
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" <does>
    And a streaming request is sent and its client leaves after 3600 seconds
    Then the answer has status 502
    And no answer names an engine's address

    Examples:
      | does                                                 |
      | begins chat with the line "HTTP/1.1 banana OK"       |
      | begins chat with the line "HTTP/1.1 1000 Odd"        |
      | begins chat with the line "HTTP/1.1 099 Odd"         |
      | begins chat with the line "HTTP/2.0 200 OK"          |
      | begins chat with the line "HELLO"                    |
      | answers chat with 999                                |
      | answers chat without a head                          |
      | answers chat in SSH                                  |
      | answers chat in TLS                                  |
      | answers chat in HTTP/2                               |
      | closes chat without answering                        |
      | resets chat                                          |
      | truncates chat after 20 bytes of the wire            |
      | states a negative length for chat                    |
      | states a length that is no number for chat           |
      | states two lengths for chat                          |
      | states a length beside chunks for chat               |
      | sends a header without a colon in chat               |
      | sends a header without a name in chat                |
      | sends a header folded in chat                        |
      | sends a header with a NUL in chat                    |
      | sends a header with a space before its colon in chat |
      | sends a header with a bare CR in chat                |
      | sends a header with a bare LF in chat                |
      | sends a header of 1000000 bytes in chat              |
      | switches protocols in chat                           |

  @id:malformed-stream-body @must @needs:stream @needs:faults @needs:clock @rfc:9112-7.1 @case:B107
  Scenario Outline: A stream that has begun shows its failure where the engine <does>
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" <does>
    And a streaming request is sent and its client leaves after 3600 seconds
    Then the failure is visible

    Examples:
      | does                                         |
      | truncates chat after 300 bytes               |
      | truncates chat after 300 bytes with a reset  |
      | ends chat without the last chunk             |
      | sends a chunk size that is no number in chat |
      | sends a negative chunk size in chat          |
      | sends a huge chunk size in chat              |
      | sends a chunk smaller than its size in chat  |
      | states too long a length for chat            |

  @id:stream-longer-than-its-length @must @needs:stream @needs:faults @needs:clock @needs:gateway-errors
  Scenario: A stream that says more than its length is not passed on as a whole
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" states too short a length for chat
    And a streaming request is sent and its client leaves after 3600 seconds
    Then the failure is visible

  @id:length-too-long-shows @must @needs:faults @needs:clock
  Scenario Outline: A JSON answer of an engine that <does> is a failure that shows, once it closes
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" <does>
    And a JSON request is sent
    Then the failure is visible

    Examples:
      | does                                        |
      | states too long a length for chat           |
      | sends a chunk smaller than its size in chat |

  @id:odd-but-good @must @needs:faults @case:B106
  Scenario Outline: A <kind> answer is whole where the engine <does>
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" <does>
    And a <kind> request is sent
    Then the request succeeds
    And the framing is without fault

    Examples:
      | does                                           | kind      |
      | ends chat with trailers                        | JSON      |
      | begins chat with the line "HTTP/1.1 200"       | JSON      |
      | ends chat with trailers                        | streaming |
      | sends an interim 100 before chat               | JSON      |
      | sends an interim 103 before chat               | streaming |
      | sends 3 interim 103 before chat                | JSON      |
      | answers chat twice                             | JSON      |
      | answers chat twice                             | streaming |
      | answers chat without closing                   | JSON      |
      | answers chat without closing                   | streaming |
      | answers chat without closing, framed by chunks | JSON      |
      | answers chat without closing, framed by length | streaming |
      | sends the body of chat in pieces of 1 byte     | JSON      |

  @id:large-heads-pass @should @needs:faults
  Scenario Outline: An answer is whole where the engine <does>
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" <does>
    And a JSON request is sent
    Then the request succeeds

    Examples:
      | does                                  |
      | sends a header of 65536 bytes in chat |
      | sends 200 more headers in chat        |

  @id:an-answer-nobody-asked-for @must @needs:faults
  Scenario: A second answer on the connection is given to nobody
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" answers chat twice for 3 requests
    And 5 JSON requests are sent one after another
    Then every request succeeds
    And the answer names engine "sole"

  @id:unframed-answer-ends-with-the-connection @must @needs:faults @needs:clock
  Scenario Outline: A <kind> answer that nothing ends is no success for as long as it is open
    Given an engine "sole" that serves
    And the router in front of all engines, set to
      | stream_idle_timeout_secs | 30 |
    And the router is ready
    When engine "sole" answers chat without closing, unframed
    And a <kind> request is sent
    Then the failure is visible
    And the answer took <seconds> seconds

    Examples:
      | kind      | seconds |
      | JSON      | 30.1    |
      | streaming | 30      |

  @id:only-an-interim-answer @must @needs:faults @needs:clock @needs:gateway-errors
  Scenario: An interim answer and then nothing is no answer
    Given an engine "sole" that serves
    And the router in front of all engines, set to
      | request_timeout_secs | 30 |
    And the router is ready
    When engine "sole" sends only an interim 100 for chat
    And a JSON request is sent
    Then the answer has status 504
    And the answer took 30 seconds

  @id:redirects-are-not-followed @must @needs:faults @case:B139 @case:B140
  Scenario: An engine sends the router elsewhere: nobody goes there, and the client learns no address
    Given an engine "a" that serves
    And the router in front of all engines
    And the router is ready
    Given an engine "b" that serves
    When chat of engine "a" is redirected to engine "b"
    And a JSON request is sent
    Then the answer has status 307
    And engine "b" got no request
    And no answer names an engine's address

  @id:odd-heads-pass @must @needs:faults @case:B109
  Scenario Outline: A whole answer is passed on where the engine <does>
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" <does>
    And a JSON request is sent
    Then the answer has status <status>

    Examples:
      | does                              | status |
      | answers chat with 204             | 204    |
      | sends a header in Latin-1 in chat | 200    |
      | claims gzip for chat              | 200    |
      | answers chat with 304             | 304    |

  @id:unfit-bodies-pass @must @needs:faults
  Scenario Outline: A whole answer with <body> passes unchanged: it is the engine's word
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" answers chat with <body>
    And a JSON request is sent
    Then the answer has status 200
    And the body is <what>

    Examples:
      | body          | what     |
      | HTML          | HTML     |
      | half its JSON | no JSON  |
      | bad UTF-8     | no UTF-8 |

  @id:client-breaks-the-rules @must @needs:faults @bundled @rfc:9112-6.1
  Scenario Outline: A client's request with <what> reaches no engine
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When a raw client sends the router
      """
      POST /v1/chat/completions HTTP/1.1¶<head>¶¶<body>
      """
    Then the raw client is answered <status> and the connection is closed
    And engine "sole" got 0 requests from clients

    Examples:
      | what                      | head                                                 | body               | status |
      | a length beside chunks    | Host: r¶Content-Length: 5¶Transfer-Encoding: chunked | 0¶¶GET / HTTP/1.1¶ | 400    |
      | two lengths               | Host: r¶Content-Length: 2¶Content-Length: 3          | {}                 | 400    |
      | a negative length         | Host: r¶Content-Length: -1                           | {}                 | 400    |
      | a coding nobody knows     | Host: r¶Transfer-Encoding: gzip                      | {}                 | 501    |
      | chunked that is not last  | Host: r¶Transfer-Encoding: chunked, gzip             | {}                 | 400    |
      | no host                   | Content-Length: 2                                    | {}                 | 400    |
      | two hosts                 | Host: r¶Host: s¶Content-Length: 2                    | {}                 | 400    |
      | a bad chunk size          | Host: r¶Transfer-Encoding: chunked                   | zz¶{}¶             | 400    |
      | a space before a colon    | Host: r¶Content-Length : 2                           | {}                 | 400    |
      | a folded header           | Host: r¶X-A: 1¶ b¶Content-Length: 2                  | {}                 | 400    |
      | an expectation nobody has | Host: r¶Expect: the-unexpected¶Content-Length: 2     | {}                 | 417    |

  @id:client-takes-its-time @must @needs:faults @needs:clock @bundled
  Scenario: A client that never ends its request is let go, however steadily it dribbles
    Given an engine "sole" that serves
    And the router in front of all engines, set to
      | head_timeout_secs | 20 |
      | body_timeout_secs | 30 |
    And the router is ready
    When a raw client sends the router
      """
      POST /v1/chat/completions HTTP/1.1¶Host:
      [10 s]
      r
      """
    Then the raw client is answered 408 and the connection is closed
    And the raw client's connection ended after 20 seconds
    When a raw client sends the router
      """
      POST /v1/chat/completions HTTP/1.1¶Host: r¶Content-Length: 1000¶¶
      [20 s]
      {
      """
    Then the raw client is answered 408 and the connection is closed
    And engine "sole" got 0 requests from clients

  @id:client-pipelines @should @needs:faults @bundled @rfc:9112-9.3.2
  Scenario: Requests in a pipeline are answered in their order, and the last one's close is kept
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When a raw client sends the router
      """
      GET /health HTTP/1.1¶Host: r¶¶GET /nowhere HTTP/1.1¶Host: r¶¶GET /health HTTP/1.1¶Host: r¶Connection: close¶¶
      """
    Then the raw client is answered 200, 404, 200 and the connection is closed

  @id:client-asks-in-chunks @must @needs:faults @bundled @rfc:9110-10.1.1
  Scenario: A request in chunks, and one that waits for a 100, are requests like any other
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When a raw client sends the router
      """
      POST /v1/chat/completions HTTP/1.1¶Host: r¶Content-Type: application/json¶Connection: close¶Transfer-Encoding: chunked¶¶10¶{"model":"qwen",¶
      [1 s]
      2c¶"messages":[{"role":"user","content":"hi"}]}¶0¶¶
      """
    Then the raw client is answered 200 and the connection is closed
    When a raw client sends the router
      """
      POST /v1/chat/completions HTTP/1.1¶Host: r¶Content-Type: application/json¶Connection: close¶Expect: 100-continue¶Content-Length: 60¶¶
      [1 s]
      {"model":"qwen","messages":[{"role":"user","content":"hi"}]}
      """
    Then the raw client is answered 100, 200 and the connection is closed
