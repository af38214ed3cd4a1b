# A periodic job: it starts every other minute, unless the last report still runs.
#
#     reeve job status stock-report
#     reeve job periodic force stock-report
job "stock-report" {
  type = "batch"

  periodic {
    crons            = ["*/2 * * * *"]
    prohibit_overlap = true
  }

  group "report" {
    task "write" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "date '+stock report of %H:%M: 4,711 pieces in 3 halls'"]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
