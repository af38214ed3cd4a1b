# At most one instance in each rack, on machines with Linux.
# accept: yes
# ends: waits: distinct_property

job "quorum" {
  constraint {
    attribute = "${attr.kernel.name}"
    value     = "linux"
  }

  group "quorum" {
    count = 3

    constraint {
      operator  = "distinct_property"
      attribute = "${meta.rack}"
      value     = "1"
    }

    task "quorum" {
      driver = "docker"
      config {
        image = "registry.example.com/infra/quorum:2"
      }
    }
  }
}
