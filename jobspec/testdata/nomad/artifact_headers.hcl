# A request with headers, into a directory.
# accept: yes

job "artifact-headers" {
  datacenters = ["dc1"]

  group "artifact" {
    task "headers" {
      driver = "exec"

      config {
        command = "local/api"
      }
      artifact {
        source = "https://files.example.com/private/api.zip"
        mode   = "dir"
        headers {
          Authorization = "Bearer ${NOMAD_META_token}"
          X-Trace       = "deploy"
        }
      }
    }
  }
}
