# Something to be done once on every node, and on every node that joins later.
# A node on which it succeeded is left alone until the job changes.
#
#     reeve job run examples/sysbatch.hcl
#     reeve alloc logs -job sysbatch
job "sysbatch" {
  type = "sysbatch"

  group "inventory" {
    # A node on which it fails is tried again in place, nowhere else.
    restart {
      attempts = 2
      interval = "5m"
      delay    = "1s"
      mode     = "fail"
    }

    task "disk" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo \"$(hostname): $(df -P / | tail -1)\""]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
