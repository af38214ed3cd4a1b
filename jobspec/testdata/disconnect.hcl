# Machines at the edge that may be out of reach for hours.
job "edge" {
  node_pool = "edge"

  group "sensor" {
    disconnect {
      lost_after = "6h"
      replace    = false
      reconcile  = "keep_original"
    }

    restart {
      mode     = "delay"
      attempts = 5
      interval = "10m"
      delay    = "25s"
    }

    task "reader" {
      driver = "raw_exec"
      config {
        command = "/opt/reader"
      }
    }
  }

  group "actor" {
    disconnect {
      stop_on_client_after = "90s"
    }

    task "actor" {
      driver = "raw_exec"
      config {
        command = "/opt/actor"
      }
    }
  }
}
