# One instance on every node, also on nodes that join later: what log shippers
# and monitors are. A new version goes from node to node, max_parallel at a time.
#
#     reeve job run examples/system.hcl
#     reeve job status system
variable "version" {
  type    = string
  default = "1"
}

job "system" {
  type     = "system"
  priority = 80 # before others when a node fills up

  # Only nodes that are like this have one. The others are not waited for.
  constraint {
    attribute = "${attr.kernel.name}"
    value     = "linux"
  }

  update {
    max_parallel     = 1
    health_check     = "task_states"
    min_healthy_time = "500ms"
  }

  group "watch" {
    task "load" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "while :; do echo \"v${var.version} $(cat /proc/loadavg)\"; sleep 5; done"]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
