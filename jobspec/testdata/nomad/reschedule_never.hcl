# Failed instances stay failed.
# accept: yes

job "reschedule-never" {
  datacenters = ["dc1"]

  group "reschedule" {
    reschedule {
      attempts  = 0
      unlimited = false
    }

    task "never" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
