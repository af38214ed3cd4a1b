# A canary that an operator promotes.
# accept: yes

job "update-canary" {
  datacenters = ["dc1"]

  group "update" {
    count = 4
    update {
      max_parallel = 1
      canary       = 1
      auto_promote = false
    }

    task "canary" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
