# No network.
# accept: yes

job "network-none" {
  datacenters = ["dc1"]

  group "network" {
    network {
      mode = "none"
    }

    task "none" {
      driver = "exec"

      config {
        command = "/usr/local/bin/sandbox"
      }
    }
  }
}
