# A backup every night by a container, with its own limits for retries and logs.
# accept: yes

job "backup" {
  type = "batch"

  periodic {
    crons            = ["15 1 * * *"]
    prohibit_overlap = true
    time_zone        = "UTC"
  }

  group "dump" {
    reschedule {
      attempts = 0
    }

    restart {
      attempts = 2
      delay    = "30s"
      interval = "10m"
      mode     = "fail"
    }

    task "dump" {
      driver = "docker"
      config {
        image      = "postgres:16-alpine"
        entrypoint = ["/bin/sh", "-c"]
        args       = ["pg_dump shop | gzip > /alloc/data/shop.sql.gz"]
      }
      env {
        PGHOST = "postgres.service.internal"
      }
      logs {
        max_files     = 2
        max_file_size = 5
      }
      resources {
        cpu    = 100
        memory = 128
      }
    }
  }
}
