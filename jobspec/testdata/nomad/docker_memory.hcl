# Shared memory, hard limits and the OOM score.
# accept: yes

job "docker-memory" {
  datacenters = ["dc1"]

  group "docker" {
    task "memory" {
      driver = "docker"

      config {
        image             = "registry.example.com/shop/web:1.4.2"
        shm_size          = 268435456
        memory_hard_limit = 2048
        cpu_hard_limit    = true
        cpu_cfs_period    = 50000
        oom_score_adj     = 200
      }
      resources {
        cpu        = 1000
        memory     = 1024
        memory_max = 2048
      }
    }
  }
}
