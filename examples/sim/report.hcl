# A batch job that runs for a few seconds.
job "report" {
  type = "batch"

  group "report" {
    count = 4

    task "report" {
      driver = "mock"

      config {
        run_for = "5s"
      }

      resources {
        cpu    = 500
        memory = 512
      }
    }
  }
}
