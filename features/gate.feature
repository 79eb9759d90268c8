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

  @id:gate-waits-for-a-model-that-is-only-listed @must @needs:listing @needs:chat @needs:unloaded @realtime @readiness:1
  Scenario: A server that lists a model and has not loaded it opens the gate with its first answer
    Given an engine "lazy" that lists a model that it has not loaded
    When a probe that waits 0.6 seconds asks engine "lazy"
    Then the verdict is listing
    And the verdict says "the model is listed"
    When the gate runs with a timeout of 60 seconds
    Then the command runs in the gate's own process
    And the gate's last line is like "All 1 workers healthy after Ns"
    When a probe asks engine "lazy"
    Then the verdict is serving

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

  @id:gate-reads-the-routers-own-arguments @must @needs:faults @realtime
  Scenario Outline: The workers of "<router>" are those that it is told
    Given an engine "left" that serves
    And an engine "right" that serves
    When the gate in front of "<router> <arguments>" runs with a timeout of 20 seconds
    Then the command runs in the gate's own process
    And the gate exits with 0
    And the gate's last line is like "All 2 workers healthy after Ns"

    Examples:
      | router                                | arguments                                                                             |
      | vllm-router                           | --policy consistent_hash --worker-urls left right --port 8100                         |
      | vllm-router                           | --vllm-pd-disaggregation --prefill left --decode right --kv-connector nixl            |
      | python -m sglang_router.launch_router | --worker-urls left right --policy cache_aware                                         |
      | python -m sglang_router.launch_router | --pd-disaggregation --prefill left 9001 --decode right --prefill-policy cache_aware   |
      | smg launch                            | --worker-urls=left --worker-urls=right                                                |
      | smg launch                            | --pd-disaggregation --prefill left none --prefill right 9002                          |
      | staticfire router                     | --worker-urls left right left --policy sticky                                         |

  @id:gate-asks-a-leg-for-its-health @must @needs:faults @realtime
  Scenario: A prefill and a decode leg cannot answer alone, so that their health opens the gate
    Given an engine "prefill" that loads and never answers chat
    And an engine "decode" that loads and answers chat with 400
    When the gate in front of "vllm-router --prefill prefill --decode decode" runs with a timeout of 20 seconds
    Then the command runs in the gate's own process
    And engine "prefill" got 0 chat requests

  @id:gate-needs-a-leg-of-each-role @must @needs:faults @realtime
  Scenario: Enough prefill legs without a decode leg keep the gate shut
    Given an engine "one" that serves
    And an engine "two" that serves
    And an engine "decode" that refuses
    When the gate with "--at-least 2" in front of "vllm-router --prefill one two --decode decode" runs with a timeout of 0.5 seconds
    Then the command never starts
    And the gate names engine "decode" as missing

  @id:gate-is-content-with-at-least @must @needs:faults @realtime
  Scenario: Fewer workers are enough when the launch says so
    Given an engine "never" that refuses
    And an engine "fine" that serves
    When the gate with "--at-least 1" runs with a timeout of 20 seconds
    Then the command runs in the gate's own process
    And the gate's last line is like "1 of 2 workers healthy after Ns"

  @id:gate-ends-when-a-worker-is-dead @must @needs:faults @realtime
  Scenario: A worker whose process dies ends the wait at once, and is named
    Given an engine "never" that refuses
    And an engine "fine" that serves
    And a process "never" that ends after 0.5 seconds
    When the gate with "--pid pid of never" runs with a timeout of 60 seconds
    Then the command never starts
    And the gate exits with 1
    And the gate ended within 30 seconds
    And the gate names engine "never" as missing
    And the gate tells "1 dead"

  @id:gate-is-not-fooled-by-a-stranger @must @needs:faults @realtime
  Scenario: Whoever answers at the URL of a dead worker does not open the gate
    Given an engine "fine" that loads for 2 seconds
    And a process "fine" that ends after 0.2 seconds
    When the gate with "--pid pid of fine" runs with a timeout of 60 seconds
    Then the command never starts
    And the gate exits with 1

  @id:gate-stays-shut-while-an-engine-loads @must @needs:listing @needs:chat @needs:loading @realtime
  Scenario: While a server loads the gate stays shut, and opens when it has loaded
    Given an engine "slow" that takes seconds to load
    When the gate is started with a timeout of 60 seconds
    And a probe asks engine "slow"
    Then the verdict is busy
    And the gate is shut
    When the gate has ended
    Then the command runs in the gate's own process
    And the gate's last line is like "All 1 workers healthy after Ns"
    When a probe asks engine "slow"
    Then the verdict is serving
