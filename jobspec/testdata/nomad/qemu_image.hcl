# A virtual machine with a forwarded port.
# accept: yes
# ends without /dev/kvm: fails: the node has no /dev/kvm

job "qemu-image" {
  datacenters = ["dc1"]

  group "qemu" {
    network {
      port "ssh" {}
    }

    task "image" {
      driver = "qemu"

      config {
        image_path        = "local/vm.img"
        accelerator       = "kvm"
        graceful_shutdown = true
        args              = ["-nodefaults"]
        port_map {
          ssh = 22
        }
      }
      artifact {
        source = "https://files.example.com/vm.img"
      }
      resources {
        memory = 2048
      }
    }
  }
}
