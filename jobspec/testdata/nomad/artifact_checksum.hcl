# An archive with a checksum.
# accept: yes

job "artifact-checksum" {
  datacenters = ["dc1"]

  group "artifact" {
    task "checksum" {
      driver = "exec"

      config {
        command = "local/api"
      }
      artifact {
        source      = "https://files.example.com/api-1.2.3.tar.gz"
        destination = "local/"
        options {
          checksum = "sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
        }
      }
    }
  }
}
