# An old file with stagger, which has no effect.
# accept: yes
# warns: group "update": update: stagger has no effect; use min_healthy_time

job "update-stagger" {
  datacenters = ["dc1"]
  update {
    max_parallel = 1
    stagger      = "45s"
  }

  group "update" {
    task "stagger" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
