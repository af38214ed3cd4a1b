# Several volumes, and one mounted twice.
# accept: yes

job "media" {
  group "media" {
    volume "library" {
      type      = "host"
      source    = "media"
      read_only = true
    }
    volume "cache" {
      type   = "host"
      source = "cache"
    }
    task "media" {
      driver = "exec"
      config {
        command = "/usr/local/bin/media"
      }
      volume_mount {
        volume      = "library"
        destination = "/library"
      }
      volume_mount {
        volume           = "cache"
        destination      = "/cache"
        propagation_mode = "private"
      }
      volume_mount {
        volume      = "cache"
        destination = "/thumbnails"
      }
    }
  }
}
