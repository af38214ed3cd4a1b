# A group has one network.
# accept: refused
# error: group "api": only one network block is allowed

job "api" {
  group "api" {
    network {
      port "http" {}
    }
    network {
      port "admin" {}
    }
    task "api" {
      driver = "exec"
      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
