job "web" {
  type "service"
  priority: 50
  name = 
}
