variable "count" {
  type    = number
  default = "many"
}
variable "list" {
  type    = list(number)
  default = ["a"]
}
variable "what" {
  type = strnig
}
variable "object" {
  type = object({ a = number })
  default = { b = 1 }
}
job "web" {
}
