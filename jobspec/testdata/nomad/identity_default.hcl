# The identity of the task for the API of the cluster.
# accept: yes

job "identity-default" {
  datacenters = ["dc1"]

  group "identity" {
    task "default" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      identity {
        env  = true
        file = true
      }
    }
  }
}
