varaible "a" {}

name = "x"

group "app" {
}

job "web" {
}
