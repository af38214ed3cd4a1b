// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/jobspec"
)

// jobFile is a job file with its variables, as given on a command line.
type jobFile struct {
	json     bool
	strict   bool
	vars     []string
	varFiles []string
}

func (f *jobFile) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&f.json, "json", false, "read the file as JSON, either {\"Job\": {...}} or a plain job")
	flags.BoolVar(&f.strict, "hcl2-strict", true, "reject a -var or -var-file value that the file does not declare")
	flags.StringArrayVar(&f.vars, "var", nil, "set a variable of the file to `NAME=VALUE`; repeatable")
	flags.StringArrayVar(&f.varFiles, "var-file", nil, "read variables from `FILE`, one NAME = VALUE per line; repeatable")
}

// loaded is the content of a job file.
type loaded struct {
	job        *api.Job
	submission *api.JobSubmission
	places     *jobspec.Places
}

// explain adds positions in the file to an error about its job.
func (l *loaded) explain(err error) error { return l.places.Explain(err) }

// load reads the file at path, or stdin for "-". With an error about the content of a file, it returns the
// job as far as it could be read, or nothing.
func (f *jobFile) load(c *cli, path string) (*loaded, error) {
	vars, err := f.variables()
	if err != nil {
		return nil, err
	}
	src, err := f.read(c, path)
	if err != nil {
		return nil, err
	}
	job, places, err := jobspec.ParseWithPlaces(src, jobspec.Options{
		Vars: vars, VarFiles: f.varFiles, Env: os.Environ(), Strict: f.strict, AllowFS: true, BaseDir: baseDir(path),
	})
	if job == nil {
		return nil, err
	}
	if ns := c.flags.namespace; ns != "" && ns != "*" {
		job.Namespace = ns
	} else if job.Namespace == "" {
		job.Namespace = c.namespace()
	}
	return &loaded{job: job, submission: submissionOf(src, vars), places: places}, err
}

func (f *jobFile) read(c *cli, path string) (jobspec.Source, error) {
	src := jobspec.Source{Name: path}
	if f.json {
		src.Format = jobspec.FormatJSON
	}
	var err error
	if path == "-" {
		src.Name = "<stdin>"
		src.Text, err = io.ReadAll(io.LimitReader(c.Stdin, jobspec.MaxSize+1))
	} else {
		src.Text, err = os.ReadFile(path)
	}
	if err != nil {
		return src, fmt.Errorf("read job file: %w", err)
	}
	return src, nil
}

func (f *jobFile) variables() (map[string]string, error) {
	vars := make(map[string]string, len(f.vars))
	for _, v := range f.vars {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return nil, usagef("-var %q is not NAME=VALUE", v)
		}
		vars[name] = value
	}
	return vars, nil
}

func baseDir(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "."
}

// submissionOf returns the source text that the servers store with a version.
func submissionOf(src jobspec.Source, vars map[string]string) *api.JobSubmission {
	format := map[jobspec.Syntax]string{
		jobspec.FormatJSON: "json", jobspec.FormatYAML: "yaml",
	}[jobspec.DetectFormat(src)]
	return &api.JobSubmission{Source: string(src.Text), Format: cmp.Or(format, "hcl2"), VariableFlags: vars}
}
