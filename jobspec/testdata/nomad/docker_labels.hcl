# Labels of the container, from the job and the node.
# accept: yes

job "docker-labels" {
  datacenters = ["dc1"]

  group "docker" {
    task "labels" {
      driver = "docker"

      config {
        image = "registry.example.com/shop/web:1.4.2"
        labels = {
          "com.example.job"  = "${NOMAD_JOB_NAME}"
          "com.example.node" = "${node.unique.name}"
        }
      }
    }
  }
}
