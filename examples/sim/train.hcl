# A job for machines with graphics processors.
job "train" {
  type = "batch"

  group "worker" {
    count = 6

    constraint {
      attribute = "${attr.kernel.name}"
      value     = "linux"
    }

    task "train" {
      driver = "docker"

      config {
        image = "registry.example/train:7"
      }

      resources {
        cpu    = 4000
        memory = 24000

        device "nvidia/gpu" {
          count = 2
        }
      }
    }
  }
}
