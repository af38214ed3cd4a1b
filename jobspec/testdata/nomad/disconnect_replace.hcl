# Instances on an unreachable node stay unknown for a while.
# accept: yes

job "disconnect-replace" {
  datacenters = ["dc1"]

  group "disconnect" {
    disconnect {
      lost_after = "6h"
      replace    = false
      reconcile  = "keep_original"
    }

    task "replace" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
