# A Java program, isolated like a task of driver exec. This one is a source file,
# so the node needs a JDK (Debian's default-jdk-headless). Programs in jar files
# need a runtime only, and come with an artifact block: jar_path = "local/app.jar".
#
#     reeve job run examples/java.hcl
#     reeve alloc logs -job java
job "java" {
  type = "batch"

  group "greet" {
    task "greet" {
      driver = "java"

      config {
        class       = "local/Greet.java"
        jvm_options = ["-Xmx64m"]
        args        = ["from", "${attr.driver.java.version}"]
      }

      template {
        destination = "local/Greet.java"

        data = <<-EOF
          public class Greet {
            public static void main(String[] words) {
              System.out.println("hello " + String.join(" ", words));
            }
          }
        EOF
      }

      resources {
        cpu    = 200
        memory = 256
      }
    }
  }
}
