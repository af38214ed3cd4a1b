// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/jobspec"
)

//go:embed jobs/*.hcl
var files embed.FS

// A File is a job file of the demo.
type File struct {
	Job        *api.Job
	Submission *api.JobSubmission
}

// Load reads a job file of the demo by its name, without the extension. It ignores variables that
// the file does not declare.
func Load(name string, vars map[string]string) (*File, error) {
	text, err := files.ReadFile("jobs/" + name + ".hcl")
	if err != nil {
		return nil, err
	}
	job, err := jobspec.Parse(jobspec.Source{Name: name + ".hcl", Text: text}, jobspec.Options{Vars: vars})
	if err != nil {
		return nil, fmt.Errorf("read the demo's job file %s: %w", name, err)
	}
	return &File{Job: job, Submission: &api.JobSubmission{Source: string(text), Format: "hcl2", VariableFlags: vars}}, nil
}

// Names returns the names of the job files.
func Names() []string {
	entries, _ := files.ReadDir("jobs")
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name()[:len(e.Name())-len(".hcl")])
	}
	return names
}

// WriteFiles writes the job files to a directory, so that users can read, change and register them.
func WriteFiles(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the demo's job files: %w", err)
	}
	for _, name := range Names() {
		text, err := files.ReadFile("jobs/" + name + ".hcl")
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".hcl"), text, 0o644)
		}
		if err != nil {
			return fmt.Errorf("write the demo's job files: %w", err)
		}
	}
	return nil
}
