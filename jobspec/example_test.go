// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec_test

import (
	"fmt"

	"github.com/reeve-run/reeve/jobspec"
)

func ExampleParse() {
	text := `
variable "replicas" {
  default = 1
}

job "web" {
  group "frontend" {
    count = var.replicas

    task "server" {
      driver = "raw_exec"
      config {
        command = "/usr/bin/serve"
        args    = ["-listen", "${NOMAD_ADDR_http}"]
      }
    }
  }
}
`
	job, err := jobspec.Parse(
		jobspec.Source{Name: "web.hcl", Text: []byte(text)},
		jobspec.Options{Vars: map[string]string{"replicas": "3"}},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	group := job.Groups[0]
	fmt.Println(job.ID, group.Name, *group.Count, group.Tasks[0].Config["args"])
	// Output: web frontend 3 [-listen ${NOMAD_ADDR_http}]
}

func ExampleError() {
	text := `job "web" {
  datacentres = ["dc1"]

  group "frontend" {
    count = "three"
  }
}
`
	_, err := jobspec.Parse(jobspec.Source{Name: "web.hcl", Text: []byte(text)}, jobspec.Options{})
	fmt.Println(err)
	// Output:
	// web.hcl:2:3: job "web" has no argument "datacentres"; did you mean "datacenters"?
	//     2 |   datacentres = ["dc1"]
	//       |   ^^^^^^^^^^^
	//
	// web.hcl:5:13: "count" must be a whole number, not the text "three"
	//     5 |     count = "three"
	//       |             ^^^^^^^
}
