# The older arguments for unreachable nodes.
# accept: yes

job "disconnect-old-names" {
  datacenters = ["dc1"]

  group "disconnect" {
    max_client_disconnect      = "1h"
    prevent_reschedule_on_lost = true

    task "names" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
