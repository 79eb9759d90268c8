Feature: A service is kept, and no service is restarted while it loads
  A service is an engine process that Static Fire starts, watches, restarts and stops. It is restarted
  when its process is dead, or when its start-up budget is used up before its first listing: never
  because it loads, is busy, or is slow.

  @id:six-minute-load-without-a-restart @must @needs:faults @needs:clock @readiness:4
  Scenario: A model that lists at 4 seconds and serves at 364 seconds is not restarted
    Given an engine "slow" that refuses for 4 seconds, then loads for 360 seconds and never answers chat, then serves
    And a service on engine "slow"
    When the services are supervised for 500 seconds
    Then service "slow" is ready
    And service "slow" was restarted 0 times
    And service "slow" was never failed

  @id:a-late-port-is-start-up @must @needs:faults @needs:clock @readiness:5
  Scenario: An engine that binds after 90 seconds is starting until then
    Given an engine "late" that refuses for 90 seconds, then serves
    And a service on engine "late"
    When the services are supervised for 100 seconds
    Then service "late" became ready at 90 s
    And service "late" was restarted 0 times

  @id:a-download-keeps-its-budget @must @needs:faults @needs:clock @readiness:6
  Scenario: Twenty minutes of progress in the log extend the start-up budget
    Given an engine "big" that refuses for 1200 seconds, then serves
    And a service on engine "big"
    And the log of service "big" grows for 1200 seconds
    When the services are supervised for 1300 seconds
    Then service "big" is ready
    And service "big" was restarted 0 times

  @id:no-progress-exhausts-the-budget @must @needs:faults @needs:clock @readiness:7
  Scenario: An engine without progress is restarted after 300 seconds, with the reason
    Given an engine "stuck" that refuses for 9000 seconds
    And a service on engine "stuck"
    When the services are supervised for 302 seconds
    Then service "stuck" became failed at 300 s
    And service "stuck" was restarted 1 times

  @id:restart-clears-evidence @must @needs:faults @needs:clock @readiness:48
  Scenario: A new life that only lists is not ready
    Given an engine "a" that serves
    And a service on engine "a"
    When the services are supervised for 10 seconds
    Then service "a" is ready
    When service "a" is restarted by its user
    Then service "a" is starting
    When engine "a" never answers chat
    And the services are supervised for 30 seconds
    Then service "a" is running

  @id:a-late-prober-of-a-life-before-is-not-heard @must @needs:faults @needs:clock @readiness:49
  Scenario: What was found out about the life before is written after the restart
    Given an engine "a" that serves
    And a service on engine "a"
    When the services are supervised for 10 seconds
    Then service "a" is ready
    When service "a" is restarted by its user
    And a prober of its life before writes that service "a" serves
    Then service "a" is starting
    When engine "a" never answers chat
    And the services are supervised for 30 seconds
    Then service "a" is running

  @id:a-clock-set-back-throttles-nobody @must @needs:faults @needs:clock @readiness:37
  Scenario: The clock on the wall goes back an hour, and 15 seconds later there is a probe
    Given an engine "slow" that loads and never answers chat
    And a service on engine "slow"
    When the services are supervised for 10 seconds
    Then engine "slow" got 1 chat requests
    When the clock on the wall goes back an hour
    And the services are supervised for 10 seconds
    Then engine "slow" got 2 chat requests
    And engine "slow" was never probed twice within 15 seconds

  @id:an-older-record-has-defaults @must @needs:faults @needs:clock @readiness:61
  Scenario: A record without the newer fields has their defaults, and keeps those of the future
    Given an engine "a" that serves
    And a service on engine "a"
    And the record of service "a" is of an older program, with a field of a newer one
    When the services are supervised for 10 seconds
    Then service "a" is ready
    And service "a" was restarted 0 times
    And the record of service "a" has kept the field of the newer one

  @id:a-crash-loop-is-bounded @must @needs:faults @needs:clock @readiness:51
  Scenario: A child that dies at once is restarted eight times in ten minutes, then given up
    Given an engine "dying" that dies
    And a service on engine "dying"
    When the services are supervised for 600 seconds
    Then service "dying" was restarted 8 times
    And service "dying" is failed
    And service "dying" says "given up: after 8 restarts in a row"

  @id:stopped-stays-stopped @must @needs:faults @needs:clock @readiness:57
  Scenario: What a user stopped is not started by a supervisor
    Given an engine "a" that serves
    And a service on engine "a"
    When the services are supervised for 10 seconds
    And service "a" is stopped by its user
    And the services are supervised for 60 seconds
    Then service "a" is stopped
    And service "a" was restarted 0 times

  @id:dead-at-once-is-said-at-once @must @needs:faults @realtime @os:linux @readiness:8
  Scenario: A child that exits at once ends the wait, and a second serve starts a new one
    When staticfire serves "bad" for 20 seconds with the command
      """
      sleep 0.2; echo no GPU here; exit 3
      """
    Then staticfire exits with 4
    And staticfire took less than 5 seconds
    And staticfire says "failed: exited with 3"
    And staticfire says "no GPU here"
    And service "bad" is failed
    When staticfire serves "bad" for 10 seconds with the script
      """
      model = "qwen"
      """
    Then staticfire exits with 0
    And service "bad" is ready

  @id:summary-is-honest @must @needs:faults @realtime @os:linux @readiness:65
  Scenario: A loading engine is not called ready, and no smoke test is claimed
    When staticfire serves "late" for 2 seconds with the script
      """
      model = "qwen"
      life = [{ phase = "loading", chat = { fault = "answers", status = 503 } }]
      """
    Then staticfire exits with 3
    And staticfire says "running: not ready yet"
    And staticfire says "it answers but cannot serve yet"
    And staticfire says "smoke test   n/a: none ran"
    When staticfire runs "services list"
    Then staticfire says "1 service: 0 ready, 1 running"

  @id:silence-is-told-from-loading @must @needs:faults @realtime @os:linux @readiness:65
  Scenario: An engine that did not answer in the start-up window is told as such
    When staticfire serves "mute" for 1 seconds with the command
      """
      sleep 60
      """
    Then staticfire exits with 3
    And staticfire says "it did not answer in the start-up window"
    And staticfire says "smoke test   n/a: none ran"

  @id:wait-has-exit-codes @must @needs:faults @realtime @os:linux @readiness:64
  Scenario: Ready, loading and dead have exit codes of their own
    When staticfire serves "fine" for 10 seconds with the script
      """
      model = "qwen"
      """
    And staticfire runs "wait fine"
    Then staticfire exits with 0
    When staticfire serves "mute" for 0 seconds with the command
      """
      sleep 60
      """
    And staticfire runs "wait mute --timeout 0.6"
    Then staticfire exits with 6
    When the process of service "mute" is killed
    And staticfire runs "wait mute --timeout 20"
    Then staticfire exits with 4
    And staticfire took less than 5 seconds

  @id:killed-and-back @must @needs:faults @realtime @os:linux @readiness:50
  Scenario: kill -9, and it comes back; counts survive the supervisor's own death
    When staticfire serves "a" for 10 seconds with the script
      """
      model = "qwen"
      """
    And a supervisor is started
    And the process of service "a" is killed
    And service "a" has begun life 2
    And the supervisor is killed
    And a supervisor is started
    And staticfire runs "wait a --timeout 10"
    And the process of service "a" is killed
    And service "a" has begun life 3
    And staticfire runs "wait a --timeout 10"
    Then staticfire exits with 0
    And service "a" was restarted 2 times

  @id:an-engine-of-the-lane-as-a-service @must @needs:listing @needs:chat @needs:command @realtime @os:linux
  Scenario: The engine of the lane is served, listed, killed, started again and stopped
    When staticfire serves the engine of the lane as "real" for 60 seconds
    Then staticfire exits with 0
    And staticfire says "smoke test   passed"
    When staticfire runs "services list"
    Then staticfire says "1 service: 1 ready"
    When the process of service "real" is killed
    And staticfire runs "services list"
    Then staticfire says "0 ready, 1 failed"
    When staticfire runs "services restart real --timeout 60"
    Then staticfire exits with 0
    And service "real" is ready
    When staticfire runs "services stop real"
    Then staticfire exits with 0
    And service "real" is stopped

  @id:a-foreign-server-is-not-ours @must @needs:faults @realtime @os:linux @readiness:53 @readiness:64
  Scenario: Another process serves on our port
    When staticfire serves "theirs" for 10 seconds with the script
      """
      model = "qwen"
      """
    And a second service on the port of service "theirs" is served for 5 seconds
    Then staticfire exits with 5
    And staticfire says "not our process"
    When staticfire runs "wait second --timeout 20"
    Then staticfire exits with 5
    And staticfire says "not our process"

  @id:failure-is-throttled-across-processes @must @needs:faults @realtime @os:linux @readiness:34
  Scenario: Five fresh processes send one request to an engine that loads
    Given an engine "loading" that loads and never answers chat
    And a service for the server of engine "loading"
    When 5 processes list the services at once
    Then engine "loading" got 1 chat requests

  @id:an-open-window-is-for-one @must @needs:faults @realtime @os:linux @readiness:36
  Scenario: The window opens, eight processes look at once, and one of them probes
    Given an engine "loading" that loads and never answers chat
    And a service for the server of engine "loading"
    When 1 processes list the services at once
    Then engine "loading" got 1 chat requests
    When the window of service "loading" opens
    And 8 processes list the services at once
    Then engine "loading" got 2 chat requests

  @id:a-killed-prober-leaves-the-window-shut @must @needs:faults @realtime @os:linux @readiness:35
  Scenario: A process that is killed in its probe does not open the window for the next
    Given an engine "loading" that loads and never answers chat
    And a service for the server of engine "loading"
    When a process that lists the services is killed after 1 seconds
    And 2 processes list the services at once
    Then engine "loading" got 1 chat requests

  @id:read-only-state-is-told @should @needs:faults @realtime @os:linux @readiness:41
  Scenario: A state folder that cannot be written is told, and no engine is started without a record
    When staticfire runs "services list" in a state folder that cannot be written
    Then staticfire exits with 0
    And staticfire says "cannot be written"
    When staticfire runs "serve a -- sleep 1 {port}" in a state folder that cannot be written
    Then staticfire exits with 2
    And staticfire says "could be neither found nor stopped"

  @id:a-torn-record-is-never-lost @must @needs:faults @realtime @os:linux @readiness:59
  Scenario: A record that cannot be read is listed as unreadable, and left as it is
    Given the record of service "torn" is torn
    When staticfire runs "services list"
    Then staticfire exits with 0
    And staticfire says "torn  unreadable"
    When staticfire runs "services list"
    Then staticfire says "torn  unreadable"

  @id:a-hung-process-is-gone-before-the-next @must @needs:faults @realtime @os:linux @readiness:52
  Scenario: A process that hangs on its port and hears no SIGTERM is gone before the next begins
    When staticfire serves "a" for 10 seconds with the script
      """
      model = "qwen"
      """
    And service "a" is given 0.2 seconds to end
    And the process of service "a" hangs
    And staticfire runs "services restart a --timeout 20"
    Then staticfire exits with 0
    And service "a" is ready
    And service "a" runs once, and the life before is gone

  @id:writers-at-once-lose-nothing @must @needs:faults @realtime @os:linux @readiness:60
  Scenario: A waiter, a lister and a supervisor write at once, a thousand times
    Given an engine "loading" that loads and never answers chat
    And a service for the server of engine "loading"
    When a waiter, a lister and a supervisor write to service "loading" 1000 times each
    Then no write to service "loading" is lost

  @id:a-zombie-is-dead @must @needs:faults @realtime @os:linux @readiness:54
  Scenario: A process that is gone, or a zombie, is shown as dead by a list that writes nothing
    When staticfire serves "a" for 10 seconds with the script
      """
      model = "qwen"
      """
    And the process of service "a" is killed
    And staticfire runs "services list"
    Then staticfire says "0 ready, 1 failed"
    And service "a" is ready
