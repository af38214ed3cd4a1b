# Fewer and smaller files of output.
# accept: yes

job "logs" {
  datacenters = ["dc1"]

  group "logs" {
    task "logs" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      logs {
        max_files     = 3
        max_file_size = 5
      }
    }
  }
}
