# One of the 2,000 jobs of c2m.yaml: a thousand small instances.
job "c2m" {
  type = "service"

  group "sleepers" {
    count = 1000

    update {
      max_parallel = 0 # no deployment: nobody waits for health
    }

    ephemeral_disk {
      size = 10
    }

    task "sleep" {
      driver = "mock"

      config {
        run_for = "24h"
      }

      logs {
        max_files     = 1
        max_file_size = 1
      }

      resources {
        cpu    = 10
        memory = 32
      }
    }
  }
}
