# A Java task that names no program.
# accept: refused
# error: group "java", task "app": config: jar_path or class is missing: name the program

job "java-nothing" {
  datacenters = ["dc1"]

  group "java" {
    task "app" {
      driver = "java"

      config {
        jvm_options = ["-Xmx64m"]
      }
    }
  }
}
