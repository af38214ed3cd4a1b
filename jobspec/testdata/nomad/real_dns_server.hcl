# A name server on each node, by UDP and TCP of the host.
# accept: yes

job "coredns" {
  type     = "system"
  priority = 80

  group "dns" {
    network {
      port "dns" {
        static = 5353
      }
    }

    task "coredns" {
      driver = "docker"
      config {
        image        = "coredns/coredns:1.11.1"
        network_mode = "host"
        args         = ["-conf", "/local/Corefile", "-dns.port", "${NOMAD_PORT_dns}"]
      }
      template {
        destination = "local/Corefile"
        data        = ". {\n  forward . 10.0.0.2\n}\n"
      }
      resources {
        cpu    = 50
        memory = 64
      }
    }
  }
}
