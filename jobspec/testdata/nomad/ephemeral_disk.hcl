# Data that a replacement gets, also on another node.
# accept: yes

job "ephemeral-disk" {
  datacenters = ["dc1"]

  group "ephemeral" {
    ephemeral_disk {
      size    = 2000
      sticky  = true
      migrate = true
    }

    task "disk" {
      driver = "exec"

      config {
        command = "/usr/local/bin/store"
        args    = ["--dir", "${NOMAD_ALLOC_DIR}/data"]
      }
    }
  }
}
