# A task that joins the network of another one.
# accept: refused
# error: network_mode

job "podman-pod" {
  datacenters = ["dc1"]

  group "nats" {
    task "server" {
      driver = "podman"

      config {
        image = "docker://nats:2"
      }
    }

    task "exporter" {
      driver = "podman"

      config {
        image        = "docker://natsio/prometheus-nats-exporter"
        network_mode = "task:server"
      }
    }
  }
}
