Feature: A known bug is a row, and a row excuses nothing else
  A suite that is red every day is not read. A known bug gets a row with its ticket; its scenario
  still runs, and the day it passes, the row must go. A row never hides a broken harness.

  @id:row-excuses-its-bug @must
  Scenario: A row excuses its own bug, where its conditions hold
    Given these known bugs
      """
      [["stream-cut"]]
      when = { router = "other" }
      bug = "#12"
      reason = "ends cut streams cleanly"
      """
    When scenario "stream-cut" runs on lane "mock" with router "other"
    Then it is expected to xfail
    And a broken promise counts as xfailed
    When scenario "stream-cut" runs on lane "mock" with router "bundled"
    Then it is expected to pass
    And a broken promise counts as failed

  @id:row-is-strict @must
  Scenario: A bug that is gone fails the run until its row is gone too
    Given these known bugs
      """
      [["stream-cut"]]
      when = {}
      bug = "#12"
      reason = "ends cut streams cleanly"
      """
    When scenario "stream-cut" runs on lane "mock" with router "bundled"
    Then a pass counts as failed

  @id:row-never-excuses-the-harness @must
  Scenario: A broken harness is never a known bug
    Given these known bugs
      """
      [["stream-cut"]]
      when = {}
      bug = "#12"
      reason = "ends cut streams cleanly"
      """
    When scenario "stream-cut" runs on lane "mock" with router "bundled"
    Then a broken harness counts as failed

  @id:row-names-its-failure @must
  Scenario: A row with raises does not excuse another bug of the same scenario
    Given these known bugs
      """
      [["stream-cut"]]
      when = {}
      bug = "#12"
      reason = "ends cut streams cleanly"
      raises = "ended cleanly"
      """
    When scenario "stream-cut" runs on lane "mock" with router "bundled"
    Then a broken promise counts as xfailed
    And another broken promise counts as failed

  @id:rows-of-one-id-are-alternatives @should
  Scenario: Several rows of one scenario are alternatives
    Given these known bugs
      """
      [["stream-cut"]]
      when = { lane = "llamacpp" }
      bug = "#12"
      reason = "a"

      [["stream-cut"]]
      when = { router = "other" }
      bug = "#13"
      reason = "b"
      """
    When scenario "stream-cut" runs on lane "llamacpp" with router "bundled"
    Then it is expected to xfail
    When scenario "stream-cut" runs on lane "mock" with router "other"
    Then it is expected to xfail
    When scenario "stream-cut" runs on lane "mock" with router "bundled"
    Then it is expected to pass

  @id:flaky-row-tolerates-both @should
  Scenario: A flaky row has a ticket and an end, and tolerates a pass
    Given these known bugs
      """
      [["stream-cut"]]
      when = {}
      bug = "#12"
      reason = "sometimes"
      flaky = true
      until = 2026-12-31
      """
    When scenario "stream-cut" runs on lane "mock" with router "bundled"
    Then a pass counts as passed
    And a broken promise counts as xfailed

  @id:row-has-its-own-wait @should
  Scenario: A row may shorten the wait for what is known not to come
    Given these known bugs
      """
      [["stream-cut"]]
      when = {}
      bug = "#12"
      reason = "never serves"
      serve_timeout_secs = 90
      """
    When scenario "stream-cut" runs on lane "mock" with router "bundled"
    Then a wait until served lasts 90 seconds
    And a wait of 69.2 seconds is reported as a close call
    And a promise that ran out of time counts as failed
    When scenario "stream-whole" runs on lane "mock" with router "bundled"
    Then a wait until served lasts 600 seconds

  @id:wrong-rows-are-refused @must
  Scenario Outline: A row with <what> is refused before a test runs
    Given these known bugs
      """
      [["<id>"]]
      when = { <when> }
      bug = "#12"
      reason = "a"
      <more>
      """
    Then the file is refused, because it says "<words>"

    Examples:
      | what               | id         | when             | more               | words      |
      | an unknown id      | stream-cat |                  |                    | stream-cut |
      | an unknown key     | stream-cut |                  | raise = "x"        | raises     |
      | an unknown lane    | stream-cut | lane = "mok"     |                    | mock       |
      | an unknown router  | stream-cut | router = "othr"  |                    | other      |
      | an expired date    | stream-cut |                  | until = 2026-05-31 | 2026-05-31 |
      | no end while flaky | stream-cut |                  | flaky = true       | until      |
