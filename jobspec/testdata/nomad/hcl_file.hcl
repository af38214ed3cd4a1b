# The content of files beside the job file.
# accept: yes

job "files" {
  group "files" {
    task "files" {
      driver = "exec"
      config {
        command = "/bin/sh"
        args    = ["-ec", file("files/start.sh")]
      }
      env {
        MESSAGE = trimspace(file("files/message.txt"))
        DIGEST  = sha256(file("files/start.sh"))
        FILES   = join(",", fileset("files", "*.sh"))
      }
    }
  }
}
