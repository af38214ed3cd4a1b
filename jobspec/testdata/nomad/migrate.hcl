# How instances leave a node that drains.
# accept: yes

job "migrate" {
  datacenters = ["dc1"]

  group "migrate" {
    count = 4
    migrate {
      max_parallel     = 2
      health_check     = "checks"
      min_healthy_time = "15s"
      healthy_deadline = "8m"
    }

    task "migrate" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
