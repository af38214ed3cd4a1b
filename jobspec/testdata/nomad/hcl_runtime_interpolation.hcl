# Values that only the node knows, in arguments and in the environment.
# accept: yes

job "where" {
  group "where" {
    network {
      port "http" {}
    }
    task "where" {
      driver = "raw_exec"
      config {
        command = "/usr/local/bin/where"
        args = [
          "--node=${node.unique.name}",
          "--arch=${attr.cpu.arch}",
          "--rack=${meta.rack}",
          "--listen=${NOMAD_IP_http}:${NOMAD_PORT_http}",
          "--dir=${NOMAD_TASK_DIR}",
        ]
      }
      env {
        DATACENTER = "${node.datacenter}"
        INSTANCE   = "${NOMAD_ALLOC_NAME}"
        HOME       = "${env["HOME"]}"
      }
    }
  }
}
