# Devices and cores that belong to one task alone. It needs a node that declares
# such devices:
#
#     reeve agent -dev -config examples/agent-devices.hcl
#     reeve job run examples/devices.hcl
#     reeve alloc logs -job render
job "render" {
  group "render" {
    count = 2

    task "frame" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo seat $NOMAD_DEVICE_licence, cores $NOMAD_CPU_CORES; grep Cpus_allowed_list /proc/self/status; exec sleep 3600"]
      }

      resources {
        cores  = 1
        memory = 64

        device "acme/licence" {
          constraint {
            attribute = "${device.attr.memory}"
            operator  = ">="
            value     = "4000 MB"
          }
          constraint {
            attribute = "${device.attr.version}"
            operator  = "version"
            value     = ">= 7.0, < 8"
          }
        }
      }
    }
  }
}
