variable {
}
variable "a-b c" {
}
variable "a" {
  defualt = 1
  typ = string
  validations {}
}
variable "b" {
  default = 1
}
variable "b" {
  default = 2
}
job "web" {
}
