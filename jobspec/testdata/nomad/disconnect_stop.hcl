# The node stops instances that it cannot report.
# accept: yes

job "disconnect-stop" {
  datacenters = ["dc1"]

  group "disconnect" {
    disconnect {
      stop_on_client_after = "5m"
      replace              = true
      reconcile            = "best_score"
    }

    task "stop" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
