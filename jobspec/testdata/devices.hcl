# GPUs and cores that are close to each other.
job "train" {
  type = "batch"

  group "train" {
    task "train" {
      driver = "docker"

      config {
        image = "trainer:9"
      }

      resources {
        cores   = 8
        memory  = 32768
        secrets = 4

        device "nvidia/gpu" {
          count = 2

          constraint {
            attribute = "${device.attr.memory}"
            operator  = ">="
            value     = "16 GiB"
          }

          affinity {
            attribute = "${device.model}"
            regexp    = "H100"
            weight    = 75
          }
        }

        numa {
          affinity = "require"
          devices  = ["nvidia/gpu"]
        }
      }
    }
  }
}
