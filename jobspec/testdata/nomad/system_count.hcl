# A system job with a count.
# accept: refused
# error: group "agent": count 3: a system job runs once on every node: leave count out, or set it to 0 to run it nowhere

job "agent" {
  type = "system"
  group "agent" {
    count = 3
    task "agent" {
      driver = "exec"
      config {
        command = "/usr/local/bin/agent"
      }
    }
  }
}
