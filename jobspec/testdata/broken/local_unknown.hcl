locals {
  image = "nginx"
}
job "web" {
  meta {
    a = local.imag
    b = locals.image
  }
}
