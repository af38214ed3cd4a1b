# A search server that locks its memory.
# accept: yes
# ends without CAP_SYS_RESOURCE: fails: above the hard limit of the node's agent

job "elasticsearch" {
  group "search" {
    network {
      mode = "bridge"
      port "http" {
        to = 9200
      }
      port "transport" {
        to = 9300
      }
    }

    service {
      name     = "elasticsearch"
      port     = "http"
      provider = "nomad"
      check {
        type     = "http"
        path     = "/_cluster/health"
        interval = "10s"
        timeout  = "5s"
      }
    }

    task "elasticsearch" {
      driver = "docker"
      user   = "1000:0"
      config {
        image = "elasticsearch:8.14.1"
        ports = ["http", "transport"]
        ulimit {
          memlock = "-1"
          nofile  = "65536"
          nproc   = "8192"
        }
      }
      env = {
        "discovery.type"        = "single-node"
        "bootstrap.memory_lock" = "true"
        ES_JAVA_OPTS            = "-Xms128m -Xmx128m"
      }
      resources {
        cpu    = 300
        memory = 512
      }
    }
  }
}
