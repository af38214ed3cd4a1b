# A class of a jar, with settings of its isolation.
# accept: yes

job "java-isolation" {
  datacenters = ["dc1"]

  constraint {
    attribute = "${attr.driver.java.version}"
    operator  = ">="
    value     = "17"
  }

  group "java" {
    task "class" {
      driver = "java"

      config {
        jar_path = "local/orders.jar"
        class    = "com.example.Migrate"
        work_dir = "/local"
        pid_mode = "private"
        ipc_mode = "private"
        cap_drop = ["all"]
      }
      artifact {
        source = "https://files.example.com/orders.jar"
      }
    }
  }
}
