# A service that crashes: two restarts at once, then after growing delays, until
# it has crashed 200 times without having been well for 5 minutes between two of
# them. Here the delays are short, so that there is something to see.
#
#     reeve job run -detach examples/crash.hcl
#     reeve job status crash
job "crash" {
  group "main" {
    restart {
      immediate      = 2    # of the attempts, these are made at once
      delay          = "3s" # before the next one ...
      delay_function = "exponential"
      max_delay      = "16m" # ... which doubles up to this
      attempts       = 199   # in all: at the next crash the allocation fails
      reset_after    = "5m"  # well for so long, and all of that is forgotten
      mode           = "fail"
    }

    task "main" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "sleep 0.5; exit 17"]
      }

      resources {
        cpu    = 50
        memory = 16
      }
    }
  }
}
