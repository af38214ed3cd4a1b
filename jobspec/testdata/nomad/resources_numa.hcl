# Cores near each other.
# accept: refused
# needs: numa
# error: group "resources": task "numa": resources: the numa block is not supported: Nomad has it in its Enterprise edition alone; remove it or set affinity = "none", and reserve whole cores with cores

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
