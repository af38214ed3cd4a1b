# Limits and a policy for an autoscaler.
# accept: yes

job "scaling" {
  datacenters = ["dc1"]

  group "scaling" {
    count = 2
    scaling {
      enabled = true
      min     = 2
      max     = 12
      policy {
        cooldown            = "2m"
        evaluation_interval = "20s"
        check "cpu" {
          source = "prometheus"
          query  = "avg(cpu)"
          strategy "target-value" {
            target = 70
          }
        }
      }
    }

    task "scaling" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
