# A mail relay on a low port of the node, which containers may use only with the users of the node.
# accept: yes

job "relay" {
  group "relay" {
    network {
      port "smtp" {
        static = 25
      }
    }

    task "relay" {
      driver = "docker"
      config {
        image        = "boky/postfix:v4"
        network_mode = "host"
        userns_mode  = "host"
      }
    }
  }
}
