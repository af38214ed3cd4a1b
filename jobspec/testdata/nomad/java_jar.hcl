# A Java program from an artifact.
# accept: yes

job "java-jar" {
  datacenters = ["dc1"]

  group "java" {
    network {
      port "http" {}
    }

    task "jar" {
      driver = "java"

      config {
        jar_path    = "local/orders.jar"
        jvm_options = ["-Xmx512m", "-Xms256m"]
        args        = ["--port", "${NOMAD_PORT_http}"]
      }
      artifact {
        source = "https://files.example.com/orders.jar"
      }
    }
  }
}
