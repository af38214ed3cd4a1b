job "web" {
  type = ["service"]
  namespace = { name = "default" }
}
