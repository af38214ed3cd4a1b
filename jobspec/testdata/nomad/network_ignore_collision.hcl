# A fixed port that several instances share.
# accept: yes

job "network-ignore-collision" {
  datacenters = ["dc1"]

  group "network" {
    network {
      port "http" {
        static           = 8080
        ignore_collision = true
      }
    }

    task "collision" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
