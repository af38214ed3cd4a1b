# A resolver for tasks in the network of the host.
# accept: yes

job "network-host-dns" {
  datacenters = ["dc1"]

  group "network" {
    network {
      dns {
        servers = ["10.0.0.2"]
      }
    }

    task "dns" {
      driver = "exec"

      config {
        command = "/usr/local/bin/worker"
      }
    }
  }
}
