// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"errors"
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

// A job for a driver that no node has would wait without end, unless a node of a later version
// brings the driver.
func TestDriverMustBeBuiltInOrOnANode(t *testing.T) {
	simulate(t, func(c *cluster) {
		job := serviceJob("web", 1)
		job.Groups[0].Tasks[0].Driver, job.Groups[0].Tasks[0].Config = "qemu", map[string]any{"image_path": "local/vm.img"}
		register := func() error {
			_, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: job})
			return err
		}
		refused := func(when string) {
			t.Helper()
			err := register()
			var e *api.Error
			want := `group "web": task "server": driver "qemu" is not supported yet; no node has it; use "exec" or "raw_exec", which run programs of the node`
			if !errors.As(err, &e) || e.Code != api.CodeInvalid || len(e.Detail) != 1 || e.Detail[0] != want {
				t.Errorf("%s: the error is %v, want %q", when, err, want)
			}
		}
		refused("without nodes")
		node := newNode("later")
		node.Drivers["qemu"] = &api.DriverStatus{}
		if _, err := c.RegisterNode(c.Context(), node); err != nil {
			t.Fatal(err)
		}
		refused("with a node that does not find the program of the driver")
		node.Drivers["qemu"] = &api.DriverStatus{Detected: true}
		if _, err := c.RegisterNode(c.Context(), node); err != nil {
			t.Fatal(err)
		}
		if err := register(); err != nil {
			t.Errorf("a node has the driver, although it is not healthy: %v", err)
		}
	})
}
