// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestJobFilesAreValid(t *testing.T) {
	total := api.Usage{}
	for _, name := range Names() {
		f, err := Load(name, map[string]string{"router": "127.0.0.1:18080"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		job := f.Job.Copy()
		job.Canonicalize()
		if err := job.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if job.ID != name {
			t.Errorf("%s: the job is %q; a file has the name of its job", name, job.ID)
		}
		if !strings.HasPrefix(f.Submission.Source, "# ") {
			t.Errorf("%s: begins without a comment that explains the job", name)
		}
		for _, g := range job.Groups {
			if name == "forecast" || g.Tasks[0].Driver == "mock" {
				continue
			}
			u, n := g.Usage(), int64(g.Size())
			if name == "inventory" {
				n *= 3 // versions
			}
			total.CPU, total.MemoryMB = total.CPU+n*u.CPU, total.MemoryMB+n*u.MemoryMB
		}
	}
	if total.MemoryMB > 1400 || total.CPU > 1500 {
		t.Errorf("the shop asks for %d MHz and %d MB, which a machine with 2 cores and 2 GB does not have", total.CPU, total.MemoryMB)
	}
}

func TestServicesOfJobFilesExist(t *testing.T) {
	used := map[string]bool{}
	for _, name := range Names() {
		f, err := Load(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range f.Job.Groups {
			for _, task := range g.Tasks {
				if args, _ := task.Config["args"].([]any); len(args) == 2 && args[0] == "example-shop" {
					used[args[1].(string)] = true
				}
			}
		}
	}
	for _, name := range ServiceNames() {
		if !used[name] {
			t.Errorf("no job file runs the service %s", name)
		}
		delete(used, name)
	}
	for name := range used {
		t.Errorf("a job file runs the service %s, which does not exist", name)
	}
}

func TestWriteFilesSaysWhereItFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "jobs")
	if err := WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	if found, _ := filepath.Glob(dir + "/*.hcl"); len(found) != len(Names()) {
		t.Errorf("%d files, want %d", len(found), len(Names()))
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteFiles(filepath.Join(file, "jobs")); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("below a file: %v, want an error with the path", err)
	}
}
