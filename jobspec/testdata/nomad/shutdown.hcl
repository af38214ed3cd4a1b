# Signals and delays of the end of a task.
# accept: yes

job "shutdown" {
  datacenters = ["dc1"]

  group "shutdown" {
    shutdown_delay = "5s"

    task "shutdown" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      kill_signal    = "SIGTERM"
      kill_timeout   = "45s"
      shutdown_delay = "10s"
    }
  }
}
