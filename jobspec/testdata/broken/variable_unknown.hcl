variable "image" {
  default = "nginx"
}
job "web" {
  meta {
    a = var.imgae
    b = var.other
    c = vra.image
    d = "${var.iamge}:1"
  }
}
