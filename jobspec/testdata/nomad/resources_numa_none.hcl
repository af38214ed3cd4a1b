# Cores anywhere, in words.
# accept: yes

job "resources-numa-none" {
  datacenters = ["dc1"]

  group "resources" {
    task "numa" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      resources {
        cores  = 2
        memory = 512
        numa {
          affinity = "none"
        }
      }
    }
  }
}
