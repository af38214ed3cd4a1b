# A server with checks by gRPC, and updates with a canary that is promoted by itself.
# accept: yes

job "inventory" {
  update {
    max_parallel      = 2
    canary            = 1
    auto_promote      = true
    auto_revert       = true
    min_healthy_time  = "5s"
    healthy_deadline  = "2m"
    progress_deadline = "4m"
  }

  group "inventory" {
    count = 2

    network {
      mode = "bridge"
      port "grpc" {
        to = 50051
      }
    }

    service {
      name        = "inventory"
      port        = "grpc"
      provider    = "nomad"
      canary_tags = ["next"]
      check {
        type         = "grpc"
        grpc_service = "shop.Inventory"
        interval     = "5s"
        timeout      = "2s"
      }
    }

    task "inventory" {
      driver = "docker"
      config {
        image = "registry.example.com/shop/inventory:3"
        ports = ["grpc"]
      }
    }
  }
}
