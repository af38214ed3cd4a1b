# Whole cores, and memory beyond the reservation.
# accept: yes

job "resources-cores" {
  datacenters = ["dc1"]

  group "resources" {
    task "cores" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      resources {
        cores      = 2
        memory     = 512
        memory_max = 1024
      }
    }
  }
}
