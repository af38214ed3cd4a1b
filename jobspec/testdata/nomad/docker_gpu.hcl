# A container with two GPUs.
# accept: yes
# ends: waits: missing devices: nvidia/gpu

job "docker-gpu" {
  datacenters = ["dc1"]

  group "docker" {
    task "gpu" {
      driver = "docker"

      config {
        image = "registry.example.com/ml/train:7"
      }
      resources {
        cpu    = 4000
        memory = 16384
        device "nvidia/gpu" {
          count = 2
          constraint {
            attribute = "${device.attr.memory}"
            operator  = ">="
            value     = "16 GiB"
          }
        }
      }
    }
  }
}
