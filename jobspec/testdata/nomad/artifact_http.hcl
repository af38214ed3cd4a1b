# A program from a web server.
# accept: yes
# ends: fails: /local/api is not executable

job "artifact-http" {
  datacenters = ["dc1"]

  group "artifact" {
    task "http" {
      driver = "exec"

      config {
        command = "local/api"
      }
      artifact {
        source      = "https://files.example.com/api/1.2.3/api"
        destination = "local/api"
        mode        = "file"
      }
    }
  }
}
