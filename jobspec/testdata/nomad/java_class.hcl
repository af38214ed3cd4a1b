# A Java class with a class path.
# accept: yes

job "java-class" {
  datacenters = ["dc1"]

  group "java" {
    task "class" {
      driver = "java"

      config {
        class      = "com.example.Orders"
        class_path = "/srv/orders/lib/*"
      }
      resources {
        memory = 768
      }
    }
  }
}
