# A group that is switched off.
# accept: yes

job "nightly" {
  group "nightly" {
    count = 0
    task "nightly" {
      driver = "exec"
      config {
        command = "/usr/local/bin/nightly"
      }
    }
  }
}
