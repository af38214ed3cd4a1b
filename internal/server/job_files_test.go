// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/jobspec"
)

// A server decides about the job files of users of Nomad as their headers say.
func TestServerDecidesAboutJobFilesAsTheirHeadersSay(t *testing.T) {
	paths, err := filepath.Glob("../../jobspec/testdata/nomad/*.hcl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no job files: %v", err)
	}
	simulate(t, func(c *cluster) {
		registered := 0
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Contains(string(text), "\n# accept: yes\n")
			job, err := jobspec.ParseFile(path, jobspec.Options{AllowFS: true})
			if err != nil {
				if want {
					t.Errorf("%s: %v", path, err)
				}
				continue
			}
			job.ID, job.Name = filepath.Base(path), ""
			_, err = c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: job})
			if (err == nil) != want {
				t.Errorf("%s: accepted: %v, want %v: %v", path, err == nil, want, err)
			}
			if err == nil {
				registered++
			}
		}
		if registered < 50 {
			t.Errorf("%d jobs were registered, want most of %d", registered, len(paths))
		}
	})
}
