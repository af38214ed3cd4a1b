# A job whose name differs from its ID.
# accept: yes

job "search-v2" {
  id   = "search-v2"
  name = "Search"

  group "search" {
    task "search" {
      driver = "exec"
      config {
        command = "/usr/local/bin/search"
      }
    }
  }
}
