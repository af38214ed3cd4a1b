job "web" {
  dynamic "grop" {
    for_each = ["a"]
    labels = [grop.value]
    content {}
  }
  dynamic "group" {
    for_each = 3
    content {}
  }
  dynamic "group" {
    labels = ["x"]
    content {}
  }
  dynamic "group" {
    for_each = ["a"]
    foreach = 1
  }
  dynamic {
    for_each = []
  }
}
