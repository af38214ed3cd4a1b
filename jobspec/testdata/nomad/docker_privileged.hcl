# A privileged container in the process table of the host.
# accept: yes

job "docker-privileged" {
  datacenters = ["dc1"]
  type        = "system"

  group "docker" {
    task "privileged" {
      driver = "docker"

      config {
        image       = "registry.example.com/shop/web:1.4.2"
        privileged  = true
        pid_mode    = "host"
        ipc_mode    = "host"
        uts_mode    = "host"
        cgroupns    = "host"
        userns_mode = "host"
      }
    }
  }
}
