# Ten instances that share the work by their index.
# accept: yes

job "batch-array" {
  datacenters = ["dc1"]
  type        = "batch"

  group "batch" {
    count = 10

    task "array" {
      driver = "exec"

      config {
        command = "/usr/local/bin/render"
        args    = ["--part", "${NOMAD_ALLOC_INDEX}", "--of", "10"]
      }
    }
  }
}
