# A batch job that runs to completion once.
# accept: yes

job "batch-once" {
  datacenters = ["dc1"]
  type        = "batch"

  group "batch" {
    task "once" {
      driver = "exec"

      config {
        command = "/usr/local/bin/import"
        args    = ["--all"]
      }
      resources {
        cpu    = 500
        memory = 256
      }
    }
  }
}
