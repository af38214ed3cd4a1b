# A task whose program its node fetches from a web server before it starts. The
# file is this one, and the server is Python's:
#
#     cd examples && python3 -m http.server --bind 127.0.0.1 8000 &
#     reeve agent -dev &
#     reeve job run examples/artifact.hcl
#     reeve alloc logs -job artifact
job "artifact" {
  type = "batch"

  group "show" {
    task "file" {
      driver = "raw_exec"

      artifact {
        source      = "http://127.0.0.1:8000/artifact.hcl"
        destination = "local/fetched"
      }

      config {
        command = "head"
        args    = ["-2", "local/fetched/artifact.hcl"]
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
