variable "count" {
  default = 99
  validation {
    condition     = var.count < 10
    error_message = "at most ten."
  }
}
job "web" {
  group "app" {
    count = var.count
  }
}
