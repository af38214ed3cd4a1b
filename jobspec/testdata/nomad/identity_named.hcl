# A signed token for another service, renewed with a signal.
# accept: yes

job "identity-named" {
  datacenters = ["dc1"]

  group "identity" {
    task "named" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      identity {
        name          = "storage"
        aud           = ["storage.example.com"]
        file          = true
        ttl           = "1h"
        change_mode   = "signal"
        change_signal = "SIGHUP"
      }
    }
  }
}
