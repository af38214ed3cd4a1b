# A system job for some of the nodes.
# accept: yes
# ends: waits: ${meta.gpu} = true

job "system-constraint" {
  datacenters = ["dc1"]
  type        = "system"

  group "system" {
    constraint {
      attribute = "${meta.gpu}"
      value     = "true"
    }

    task "constraint" {
      driver = "exec"

      config {
        command = "/usr/local/bin/gpu-exporter"
      }
    }
  }
}
