# A description and links for the web page of the job.
# accept: yes

job "ui" {
  datacenters = ["dc1"]
  ui {
    description = "The **API** of the shop."
    link {
      label = "Runbook"
      url   = "https://wiki.example.com/api"
    }
    link {
      label = "Code"
      url   = "https://git.example.com/api"
    }
  }

  group "ui" {
    task "ui" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
