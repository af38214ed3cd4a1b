# Tasks before, beside and after the main task.
# accept: yes

job "wiki" {
  group "wiki" {
    task "migrate" {
      driver = "exec"
      lifecycle {
        hook    = "prestart"
        sidecar = false
      }
      config {
        command = "/usr/local/bin/wiki-migrate"
      }
      resources {
        cpu    = 100
        memory = 64
      }
    }

    task "wiki" {
      driver = "exec"
      leader = true
      config {
        command = "/usr/local/bin/wiki"
      }
    }

    task "shipper" {
      driver = "exec"
      lifecycle {
        hook    = "prestart"
        sidecar = true
      }
      config {
        command = "/usr/local/bin/shipper"
        args    = ["--dir", "${NOMAD_ALLOC_DIR}/logs"]
      }
    }

    task "announce" {
      driver = "exec"
      lifecycle {
        hook = "poststart"
      }
      config {
        command = "/usr/local/bin/announce"
      }
    }

    task "cleanup" {
      driver = "exec"
      lifecycle {
        hook = "poststop"
      }
      config {
        command = "/usr/local/bin/cleanup"
      }
    }
  }
}
