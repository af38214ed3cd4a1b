# Limits of the processes in a container.
# accept: yes
# ends without CAP_SYS_RESOURCE: fails: above the hard limit of the node's agent

job "docker-ulimit" {
  datacenters = ["dc1"]

  group "docker" {
    task "ulimit" {
      driver = "docker"

      config {
        image = "registry.example.com/shop/web:1.4.2"
        ulimit {
          nofile  = "65536:65536"
          nproc   = "4242"
          memlock = "-1:-1"
        }
        pids_limit = 512
      }
    }
  }
}
