# A policy that the lead of the web team writes, as web.ci: the pipeline of the team deploys its jobs.
namespace "web" {
  capabilities = ["list-jobs", "read-job", "submit-job"]
}
