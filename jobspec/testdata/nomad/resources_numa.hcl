# Cores near each other.
# accept: later
# needs: numa

job "resources-numa" {
  datacenters = ["dc1"]

  group "resources" {
    task "numa" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      resources {
        cores  = 4
        memory = 512
        numa {
          affinity = "require"
        }
      }
    }
  }
}
