Feature: Mock engines send bodies and streams exactly as named
  Whole by every rule of HTTP, and of no use; or of use, in a form that a careless parser does not
  know. An honest stream of these scenarios has ten events: a role, eight tokens, [DONE].

  Background:
    Given an engine "one" that serves

  @id:engine-answers-honestly @must @needs:faults
  Scenario: answers honestly, which lifts an older rule
    When engine "one" resets chat
    And engine "one" answers chat honestly for 1 request
    And a JSON request is sent to engine "one"
    Then the request succeeds
    When a JSON request is sent to engine "one"
    Then the answer is reset

  @id:engine-answers-with-a-wrong-body @must @needs:faults @case:B032 @case:B052
  Scenario Outline: answers a <kind> request with <body>
    When engine "one" answers chat with <body>
    And a <kind> request is sent to engine "one"
    Then the answer has status 200
    And the body is <body in words>
    And the framing is without fault

    Examples:
      | body          | kind      | body in words |
      | HTML          | JSON      | HTML          |
      | HTML          | streaming | HTML          |
      | nothing       | JSON      | empty         |
      | nothing       | streaming | empty         |
      | half its JSON | JSON      | no JSON       |
      | bad UTF-8     | JSON      | no UTF-8      |
      | bad UTF-8     | streaming | no UTF-8      |

  @id:engine-answers-with-half-an-event @must @needs:faults @case:B032
  Scenario: answers with half the JSON of one event
    When engine "one" answers chat with half its JSON
    And a streaming request is sent to engine "one"
    Then 10 events came
    And 1 events are no JSON

  @id:engine-answers-with-an-error-object @must @needs:faults @case:B040
  Scenario Outline: answers a <kind> request with an error object and 200
    When engine "one" answers chat with an error object
    And a <kind> request is sent to engine "one"
    Then the answer has status 200
    And the answer carries the error "500"

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:engine-answers-with-another-model @must @needs:faults @case:B077
  Scenario Outline: answers a <kind> request with another model
    When engine "one" answers chat with another model
    And a <kind> request is sent to engine "one"
    Then the answer has status 200
    And the answer names the model "another-model"

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:engine-claims-an-encoding @must @needs:faults @case:B109 @rfc:9110-8.4
  Scenario Outline: claims <claim> on a plain body
    When engine "one" claims <claim> for chat
    And a JSON request is sent to engine "one"
    Then the request succeeds
    And the answer has header "Content-Encoding" with "<encoding>"
    And the judge notes "on a plain body"

    Examples:
      | claim             | encoding |
      | gzip              | gzip     |
      | the encoding "br" | br       |

  @id:engine-redirects @must @needs:faults @case:B139
  Scenario Outline: redirects with <status>
    When engine "one" redirects chat to "http://other.test/v1" with <status>
    And a JSON request is sent to engine "one"
    Then the answer has status <status>
    And the answer has header "Location" with "http://other.test/v1"
    And the body is empty

    Examples:
      | status |
      | 301    |
      | 302    |
      | 303    |
      | 307    |
      | 308    |

  @id:engine-redirects-to-another-engine @must @needs:faults @case:B140
  Scenario: redirects to another engine, and an honest client does not follow
    Given an engine "inside" that serves
    When chat of engine "one" is redirected to engine "inside"
    And a JSON request is sent to engine "one"
    Then the answer has status 307
    And engine "inside" got no request

  @id:engine-redirects-to-itself @must @needs:faults @case:B139
  Scenario: redirects to a path of the address that the client knows
    When engine "one" redirects chat to "/v1/chat/completions/"
    And a JSON request is sent to engine "one"
    Then the answer has status 307
    And the location is the address of engine "one" and "/v1/chat/completions/"

  @id:engine-says-only-done @must @needs:faults @case:B037
  Scenario: says only [DONE]
    When engine "one" says only [DONE] in chat
    And a streaming request is sent to engine "one"
    Then the answer is whole
    And 1 events came
    And the stream says [DONE]

  @id:engine-says-done-early @must @needs:faults
  Scenario: says [DONE] after three events, and never why it stopped
    When engine "one" says [DONE] after 3 events of chat
    And a streaming request is sent to engine "one"
    Then the answer is whole
    And 4 events came
    And the stream says [DONE]
    And no event has a finish reason

  @id:engine-says-done-twice @must @needs:faults @case:B146
  Scenario: says [DONE] twice
    When engine "one" says [DONE] twice in chat
    And a streaming request is sent to engine "one"
    Then the request succeeds
    And the stream says [DONE] 2 times

  @id:engine-sends-a-comment-before-each-event @must @needs:faults
  Scenario: sends a comment before each event
    When engine "one" sends a comment before each event of chat
    And a streaming request is sent to engine "one"
    Then the request succeeds
    And 10 comments came
    And 10 events came

  @id:engine-sends-comments-in-silence @must @needs:faults @needs:clock
  Scenario: sends a comment every 30 seconds of silence, as llama.cpp does
    When engine "one" waits 100 seconds before the first token of chat and sends a comment every 30 seconds in chat
    And a streaming request is sent to engine "one" by a client that waits 600 seconds
    Then the request succeeds
    And the answer took 100 seconds
    And 3 comments came

  @id:engine-sends-comments-for-ever @must @needs:faults @needs:clock
  Scenario: stalls, and sends comments for ever
    When engine "one" stalls chat after 2 events and sends a comment every 30 seconds in chat
    And a streaming request is sent to engine "one" by a client that waits 610 seconds
    Then the answer is unfinished
    And 2 events came
    And 20 comments came

  @id:engine-sends-an-error-field @must @needs:faults @case:B044
  Scenario Outline: sends an error field <how>
    When engine "one" sends an error field 503 in chat <how>
    And a streaming request is sent to engine "one"
    Then the answer has status 200
    And 1 lines of the stream begin with "error: {"
    And the stream says [DONE] <times> times

    Examples:
      | how                          | times |
      | after 2 events               | 1     |
      | after 1 event without [DONE] | 0     |

  @id:engine-sends-an-error-event-without-done @must @needs:faults
  Scenario: sends an error event and no [DONE]
    When engine "one" sends an error event 503 in chat after 1 event without [DONE]
    And a streaming request is sent to engine "one"
    Then the answer carries the error "503"
    And the stream says [DONE] 0 times

  @id:engine-ends-lines-oddly @must @needs:faults @case:B116
  Scenario Outline: ends the lines of a stream with <ends>
    When engine "one" ends the lines of chat with <ends>
    And a streaming request is sent to engine "one"
    Then the request succeeds
    And 10 events came
    And the line ends of the stream are <found>

    Examples:
      | ends                 | found        |
      | CR                   | CR           |
      | CRLF                 | CRLF         |
      | CR, LF, CRLF in turn | CR, LF, CRLF |

  @id:engine-sends-no-space-after-the-colon @must @needs:faults @case:B116
  Scenario: sends a stream without a space after the colon
    When engine "one" sends chat without a space after the colon
    And a streaming request is sent to engine "one"
    Then the request succeeds
    And 9 lines of the stream begin with "data:{"
    And 1 lines of the stream begin with "data:[DONE]"

  @id:engine-sends-data-on-two-lines @must @needs:faults @case:B118
  Scenario: sends the data of each event on two lines
    When engine "one" sends the data of chat on two lines
    And a streaming request is sent to engine "one"
    Then the request succeeds
    And 10 events came
    And 19 lines of the stream begin with "data: "

  @id:engine-names-its-events @must @needs:faults
  Scenario: names the events and numbers them
    When engine "one" names the events of chat
    And a streaming request is sent to engine "one"
    Then the request succeeds
    And 10 events came
    And 10 lines of the stream begin with "event: message"
    And 1 lines of the stream begin with "id: 10"

  @id:engine-begins-with-a-bom @must @needs:faults
  Scenario: begins a stream with a BOM
    When engine "one" begins the stream of chat with a BOM
    And a streaming request is sent to engine "one"
    Then the request succeeds
    And 10 events came
    And the body begins with the bytes EF BB BF

  @id:engine-ends-without-a-blank-line @must @needs:faults @case:B119
  Scenario: ends a stream without a blank line, so that its last event is none
    When engine "one" ends chat without a blank line
    And a streaming request is sent to engine "one"
    Then the answer is whole
    And 9 events came
    And the body ends with the bytes 5D 0A

  @id:engine-splits-the-body @must @needs:faults @case:B116
  Scenario Outline: sends the body of a <kind> answer in pieces of <size>
    When engine "one" sends the body of chat in pieces of <size>
    And a <kind> request is sent to engine "one"
    Then the request succeeds
    And the body came in pieces of <count> bytes at once

    Examples:
      | kind      | size    | count |
      | JSON      | 1 byte  | 1     |
      | streaming | 1 byte  | 1     |
      | JSON      | 7 bytes | 7     |

  @id:engine-splits-letters-and-line-ends @must @needs:faults @case:B116
  Scenario: cuts every letter and every CR from its LF
    Given an engine "größe" that serves
    When engine "größe" ends the lines of chat with CRLF and sends the body of chat in pieces of 1 byte
    And a streaming request is sent to engine "größe"
    Then the request succeeds
    And the answer says "größe"
    And 10 events came
    And the body came in pieces of 1 bytes at once

  @id:engine-sends-a-long-line @must @needs:faults @case:B038
  Scenario Outline: sends a line of 2 MiB in a <kind> answer
    When engine "one" sends a line that is 2097152 bytes longer in chat
    And a <kind> request is sent to engine "one"
    Then the request succeeds
    And the body has more than 2097152 bytes

    Examples:
      | kind      |
      | JSON      |
      | streaming |

  @id:engine-stalls @must @needs:faults @needs:clock @case:B049
  Scenario Outline: stalls a <kind> answer after <where>
    When engine "one" stalls chat after <where>
    And a <kind> request is sent and its client leaves after 600 seconds
    Then the answer is unfinished
    And the connection was left open
    And engine "one" saw its client leave after 600 seconds

    Examples:
      | where    | kind      |
      | 3 events | streaming |
      | 1 event  | streaming |
      | 10 bytes | JSON      |
      | 10 bytes | streaming |

  @id:engine-stalls-after-events @must @needs:faults @needs:clock @case:B049
  Scenario: stalls after three events, not before and not later
    When engine "one" stalls chat after 3 events
    And a streaming request is sent to engine "one"
    Then 3 events came
