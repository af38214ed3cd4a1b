# Vertical scaling of a task, which the enterprise version of Nomad has.
# accept: refused
# needs: scaling
# error: group "scaling": task "task": the scaling block of a task is not supported: set resources in the task, and scale the group with its own scaling block

job "scaling-task" {
  datacenters = ["dc1"]

  group "scaling" {
    task "task" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      scaling "cpu" {
        enabled = true
        min     = 100
        max     = 2000
        policy {
          evaluation_interval = "1m"
        }
      }
    }
  }
}
