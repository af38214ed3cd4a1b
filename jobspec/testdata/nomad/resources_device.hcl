# A device by vendor and type, with a constraint and a preference.
# accept: yes
# ends: waits: missing devices: nvidia/gpu

job "resources-device" {
  datacenters = ["dc1"]

  group "resources" {
    task "device" {
      driver = "exec"

      config {
        command = "/usr/local/bin/train"
      }
      resources {
        cpu    = 2000
        memory = 4096
        device "nvidia/gpu" {
          count = 1
          constraint {
            attribute = "${device.attr.memory}"
            operator  = ">="
            value     = "8 GiB"
          }
          affinity {
            attribute = "${device.model}"
            value     = "A100"
            weight    = 60
          }
        }
      }
    }
  }
}
