# A device of the host in the container.
# accept: yes
# ends: fails: /dev/ttyUSB0 does not exist on the node

job "docker-devices" {
  datacenters = ["dc1"]

  group "docker" {
    task "devices" {
      driver = "docker"

      config {
        image = "registry.example.com/shop/web:1.4.2"
        devices = [
          {
            host_path          = "/dev/ttyUSB0"
            container_path     = "/dev/modem"
            cgroup_permissions = "rw"
          },
        ]
      }
    }
  }
}
