# Bounds and a policy for an autoscaler.
job "elastic" {
  group "workers" {
    count = 4

    scaling {
      enabled = true
      min     = 2
      max     = 20

      policy {
        cooldown            = "2m"
        evaluation_interval = "30s"

        check "load" {
          source = "prometheus"
          query  = "avg(load)"

          strategy "target-value" {
            target = 0.7
          }
        }
      }
    }

    task "worker" {
      driver = "raw_exec"
      config {
        command = "/srv/worker"
      }

      scaling "cpu" {
        enabled = true
        min     = 100
        max     = 1000
        policy {
          cooldown = "5m"
        }
      }
    }
  }
}
