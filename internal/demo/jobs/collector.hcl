# A system job: one instance on each simulated node.
job "collector" {
  type = "system"

  constraint {
    attribute = "${node.class}"
    value     = "simulated"
  }

  group "collector" {
    task "collector" {
      driver = "mock"

      config {
        run_for = "8760h"
      }

      resources {
        cpu    = 100
        memory = 128
      }
    }
  }
}
