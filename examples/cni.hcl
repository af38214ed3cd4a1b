# Instances in the network "shop" that CNI plugins make. Install the plugins on the nodes (Debian's
# package containernetworking-plugins), and write the network to /etc/cni/net.d/shop.conflist, for example:
#
#     {
#       "cniVersion": "1.0.0",
#       "name": "shop",
#       "plugins": [
#         {
#           "type": "bridge", "bridge": "shop0", "isGateway": true, "ipMasq": true,
#           "ipam": { "type": "host-local", "ranges": [[{ "subnet": "10.99.0.0/24" }]], "routes": [{ "dst": "0.0.0.0/0" }] }
#         },
#         { "type": "portmap", "snat": true, "capabilities": { "portMappings": true } }
#       ]
#     }
#
#     sudo reeve agent -dev
#     reeve job run examples/cni.hcl
job "cni" {
  group "web" {
    count = 2

    network {
      mode = "cni/shop"

      port "http" {
        to = 8080
      }

      cni {
        args = {
          zone = "a"
        }
      }
    }

    service {
      name     = "web"
      port     = "http"
      provider = "nomad"

      check {
        type     = "http"
        path     = "/healthz"
        interval = "2s"
        timeout  = "1s"
      }
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "${attr.reeve.binary}"
        args    = ["example-web", "-listen", ":8080"]
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
