# A configuration file from the environment of the task.
# accept: yes

job "template-data" {
  datacenters = ["dc1"]

  group "template" {
    network {
      port "http" {}
    }

    task "data" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-config", "local/app.conf"]
      }
      template {
        destination = "local/app.conf"
        data        = <<-EOT
 listen {{ env "NOMAD_ADDR_http" }}
 zone {{ env "node.datacenter" }}
EOT
      }
    }
  }
}
