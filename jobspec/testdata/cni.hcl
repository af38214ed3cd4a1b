# Networks beyond host and bridge, and ports that may be shared.
job "nets" {
  group "app" {
    network {
      mode     = "cni/macvlan"
      hostname = "app-${NOMAD_ALLOC_INDEX}"
      cidr     = "10.0.0.0/24"
      device   = "eth1"

      cni {
        args {
          K8S_POD_NAME = "app"
        }
      }

      port "shared" {
        static           = 7000
        ignore_collision = true
      }
    }

    task "app" {
      driver = "docker"
      csi_plugin {
        id             = "nfs"
        type           = "node"
        mount_dir      = "/csi"
        health_timeout = "30s"
      }
      shutdown_delay = "3s"
      config {
        image = "app:1"
      }
    }
  }
}
