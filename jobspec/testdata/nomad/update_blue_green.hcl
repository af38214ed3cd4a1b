# As many canaries as instances.
# accept: yes

job "update-blue-green" {
  datacenters = ["dc1"]

  group "update" {
    count = 3
    update {
      max_parallel = 3
      canary       = 3
      auto_promote = true
      auto_revert  = true
    }

    task "green" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
