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
          checksum = "sha256:a697ef548d466db009b179d5daad05af44483b253595fc38835ae9b157bce5ca"
        }
      }
    }
  }
}
