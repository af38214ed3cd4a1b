# Replacement without limit, with growing delays.
# accept: yes

job "reschedule-unlimited" {
  datacenters = ["dc1"]

  group "reschedule" {
    reschedule {
      delay          = "15s"
      delay_function = "exponential"
      max_delay      = "30m"
      unlimited      = true
    }

    task "unlimited" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
