# Instances spread over racks, preferably on nodes of a class.
# accept: yes

job "frontend" {
  datacenters = ["dc1"]

  group "frontend" {
    count = 3

    spread {
      attribute = "${meta.rack}"
      weight    = 100
    }

    affinity {
      attribute = "${node.class}"
      operator  = "regexp"
      value     = "^compute"
      weight    = 60
    }

    network {
      mode = "bridge"
      port "http" {
        to = 8080
      }
    }

    task "frontend" {
      driver = "docker"
      config {
        image = "registry.example.com/shop/frontend:9"
        ports = ["http"]
      }
      resources {
        cpu    = 50
        memory = 64
      }
    }
  }
}
