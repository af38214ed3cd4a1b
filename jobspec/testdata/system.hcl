# One log shipper on every Linux node that is not a database.
job "log-shipper" {
  type      = "system"
  node_pool = "all"
  priority  = 90

  constraint {
    attribute = "${attr.kernel.name}"
    value     = "linux"
  }

  constraint {
    attribute = "${meta.role}"
    operator  = "!="
    value     = "database"
  }

  update {
    max_parallel = 5
    stagger      = "30s"
  }

  group "shipper" {
    task "vector" {
      driver = "raw_exec"

      config {
        command = "/opt/vector/bin/vector"
        args    = ["--config", "local/vector.toml"]
      }

      template {
        destination = "local/vector.toml"
        data        = <<-TOML
          [sources.files]
          type = "file"
          include = ["/var/log/**/*.log"]

          [sinks.central]
          type = "http"
          inputs = ["files"]
          uri = "https://logs.internal/{{ env "node.datacenter" }}"
        TOML
      }

      resources {
        cpu        = 50
        memory     = 64
        memory_max = 256
      }
    }
  }
}
