# A task that runs to completion on every node.
# accept: yes

job "sysbatch-cleanup" {
  datacenters = ["dc1"]
  type        = "sysbatch"

  group "sysbatch" {
    task "cleanup" {
      driver = "raw_exec"

      config {
        command = "/usr/bin/find"
        args    = ["/var/tmp", "-mtime", "+7", "-delete"]
      }
    }
  }
}
