# A command and its arguments replace those of the image.
# accept: yes

job "docker-command-args" {
  datacenters = ["dc1"]

  group "docker" {
    network {
      port "http" {}
    }

    task "args" {
      driver = "docker"

      config {
        image   = "registry.example.com/shop/web:1.4.2"
        command = "bundle"
        args    = ["exec", "puma", "-p", "${NOMAD_PORT_http}"]
        ports   = ["http"]
      }
    }
  }
}
