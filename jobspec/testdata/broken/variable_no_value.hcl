variable "image" {
  type = string
}
job "web" {
  meta {
    image = var.image
  }
}
