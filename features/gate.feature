Feature: The gate holds a launch until every worker answers
  A router that starts before its workers sees two of sixteen. The gate waits for all of them, then
  becomes the command: the same process, so that a launcher's signals and exit codes stay true.

  @id:gate-opens-when-the-last-one-serves @must @needs:faults @needs:clock
  Scenario: One engine binds 12 seconds late and one answers 503 for 8 seconds
    Given an engine "late" that refuses for 12 seconds
    And an engine "busy" that is busy for 8 seconds
    When the gate waits up to 4200 seconds for all engines
    Then the gate opened after 12 seconds

  @id:gate-is-not-fooled-by-a-listing @must @needs:faults @needs:clock
  Scenario: A listed model that does not answer keeps the gate shut
    Given an engine "loading" that loads and never answers chat
    And an engine "fine" that serves
    When the gate waits up to 60 seconds for all engines
    Then the gate did not open, because engine "loading" the model is listed

  @id:gate-names-who-is-missing @must @needs:faults @needs:clock
  Scenario: A worker that never comes is named with why
    Given an engine "never" that refuses
    And an engine "fine" that serves
    When the gate waits up to 60 seconds for all engines
    Then the gate did not open, because engine "never" connection refused

  @id:gate-opens-for-an-engine-that-serves @must @needs:listing @needs:chat @realtime
  Scenario: A gate before an engine that serves opens at once
    Given an engine "fine" that serves
    When the gate runs with a timeout of 20 seconds
    Then the command runs in the gate's own process
    And the gate exits with 0

  @id:gate-becomes-the-command @must @needs:faults @realtime
  Scenario: The command runs in the gate's own process
    Given an engine "late" that refuses for 1 second
    And an engine "fine" that serves
    When the gate runs with a timeout of 20 seconds
    Then the command runs in the gate's own process
    And the gate exits with 0
    And the gate's last line is like "All 2 workers healthy after Ns"

  @id:gate-times-out @must @needs:faults @realtime
  Scenario: When one never comes, the command never starts
    Given an engine "never" that refuses
    And an engine "fine" that serves
    When the gate runs with a timeout of 2 seconds
    Then the command never starts
    And the gate exits with 1
    And the gate names engine "never" as missing

  @id:gate-ends-on-sigterm @must @needs:faults @realtime
  Scenario: SIGTERM ends the gate at once
    Given an engine "never" that refuses
    When the gate is started with a timeout of 60 seconds
    And the gate is sent SIGTERM
    Then the command never starts
    And the gate exits with 143
