# A service that keeps its data in a volume. Create the volume first:
#   reeve volume create examples/volume-create.hcl
job "ledger" {
  group "ledger" {
    volume "data" {
      type   = "host"
      source = "data"
      sticky = true # the instance always returns to its volume
    }

    task "ledger" {
      driver = "exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "while true; do date >> /data/log; sleep 10; done"]
      }

      volume_mount {
        volume      = "data"
        destination = "/data"
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
