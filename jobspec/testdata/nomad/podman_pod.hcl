# A task that joins the network of another one.
# accept: refused
# error: "network_mode" cannot be "task:server": all tasks of a group share a network with mode = "bridge" in the group's network block

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
