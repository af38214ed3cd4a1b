# Runs to completion; a failed attempt is repeated elsewhere.
job "thumbnails" {
  type        = "batch"
  datacenters = ["*"]

  group "resize" {
    count = 8

    restart {
      attempts = 2
      interval = "24h"
      delay    = "10s"
      mode     = "fail"
    }

    reschedule {
      attempts       = 5
      interval       = "24h"
      delay          = "30s"
      delay_function = "fibonacci"
      max_delay      = "1h"
      unlimited      = false
    }

    max_run_duration = "6h"

    ephemeral_disk {
      size = 2000
    }

    task "resize" {
      driver = "raw_exec"

      config {
        command = "/usr/local/bin/resize"
        args    = ["--shard", "${NOMAD_ALLOC_INDEX}", "--of", 8]
      }

      logs {
        max_files     = 3
        max_file_size = 5
      }
    }
  }
}
