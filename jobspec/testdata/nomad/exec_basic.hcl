# A program of the node in isolation, with arguments and a user.
# accept: yes

job "exec-basic" {
  datacenters = ["dc1"]

  group "exec" {
    network {
      port "http" {}
    }

    task "basic" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
      user = "www-data"
    }
  }
}
