# A task that restarts without end, after a pause.
# accept: yes

job "restart-delay" {
  datacenters = ["dc1"]

  group "restart" {
    task "delay" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      restart {
        attempts = 3
        interval = "10m"
        delay    = "10s"
        mode     = "delay"
      }
    }
  }
}
