# An exec task that reads only the files that it names besides its own.
# accept: yes

job "exec-unveil" {
  datacenters = ["dc1"]

  group "exec" {
    task "fetch" {
      driver = "exec"

      config {
        command = "/usr/bin/python3"
        args    = ["-m", "http.server", "8080", "--directory", "${NOMAD_TASK_DIR}"]
        unveil  = ["r:/etc/ssl", "rx:/usr/share"]
      }
    }
  }
}
