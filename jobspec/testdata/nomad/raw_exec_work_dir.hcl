# A program with a directory to run in.
# accept: yes

job "raw-exec-work-dir" {
  datacenters = ["dc1"]

  group "raw" {
    task "dir" {
      driver = "raw_exec"

      config {
        command  = "/usr/bin/make"
        args     = ["serve"]
        work_dir = "/srv/site"
      }
    }
  }
}
