# A nightly job that never overlaps with itself.
job "backup" {
  type = "batch"

  periodic {
    crons            = ["30 2 * * *", "@weekly"]
    prohibit_overlap = true
    time_zone        = "Europe/Berlin"
    enabled          = true
  }

  task "dump" {
    driver = "exec"
    user   = "postgres"

    config {
      command  = "/bin/sh"
      args     = ["-c", "pg_dump shop | gzip > ${NOMAD_ALLOC_DIR}/data/shop-$(date +%F).sql.gz"]
      work_dir = "/var/lib/postgresql"
    }

    env = {
      "PGHOST"     = "db.internal"
      "backup.tag" = "nightly"
    }
  }
}
