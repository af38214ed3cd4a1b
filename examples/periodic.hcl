# Work on a schedule: every five minutes, and once more at half past two on
# workdays in Berlin, unless the last one still runs.
#
#     reeve job run examples/periodic.hcl
#     reeve job status periodic             when the next start is due
#     reeve job periodic force periodic     start one now
job "periodic" {
  type = "batch"

  periodic {
    crons            = ["*/5 * * * *", "30 14 * * MON-FRI"]
    time_zone        = "Europe/Berlin"
    prohibit_overlap = true
  }

  group "report" {
    task "write" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo \"I am $NOMAD_JOB_ID, started by $NOMAD_JOB_PARENT_ID\""]
      }

      resources {
        cpu    = 100
        memory = 32
      }
    }
  }
}
