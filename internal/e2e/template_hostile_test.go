// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// TestTemplateReadsNothingForeign names a variable of another job, and files that are not the task's. None of their
// content arrives anywhere.
func TestTemplateReadsNothingForeign(t *testing.T) {
	const canary = "canary-5b1e77d0"
	m := newMachine(t)
	m.color("other", canary)
	outside := filepath.Join(m.Dir, "outside")
	if err := os.WriteFile(outside, []byte(canary), 0o644); err != nil {
		t.Fatal(err)
	}
	for id, c := range map[string]struct{ text, want string }{
		"variable": {`{{with nomadVar "nomad/jobs/other"}}{{.color}}{{end}}`, `variable "nomad/jobs/other" of namespace "default": the task may not read it`},
		"absolute": {`{{file "/etc/shadow"}}`, "below the task's directory"},
		"upwards":  {`{{file "../../../../outside"}}`, "below the task's directory"},
		"computed": {`{{file (print "local/" "../../" "../secrets/" "../../outside")}}`, "below the task's directory"},
	} {
		job := testbed.ShellJob(id, 1, "exec sleep 86400")
		job.Groups[0].Tasks[0].Templates = []*api.Template{{DestPath: "local/conf", EmbeddedTmpl: c.text}}
		m.register(job)
		m.said(id, c.want)
	}
	for _, path := range filesWith(t, filepath.Join(m.Dir, "node"), canary) {
		t.Errorf("%s contains what no task may read", path)
	}
	if strings.Contains(m.Output(), canary) {
		t.Error("the agent's log contains what no task may read")
	}
}

// TestTemplateCannotExhaustTheAgent renders templates that do not end, or do not fit into memory. Each fails with
// a limit, and the agent keeps working.
func TestTemplateCannotExhaustTheAgent(t *testing.T) {
	m := newMachine(t)
	pid := m.PID()
	for id, c := range map[string]struct{ text, want string }{
		"endless": {`{{range loop 0 999999999999}}{{range loop 0 999999999999}}{{end}}{{end}}`, "it would repeat more than"},
		"nested":  {`{{define "x"}}{{template "x" .}}{{end}}{{template "x" .}}`, "levels deep"},
		"wide":    {`{{printf "%1000000000d" 1}}`, "a width is larger than"},
		"repeat":  {`{{sprig_repeat 1000000000 "x"}}`, "text of more than"},
		"double":  {`{{$s := "xxxxxxxx"}}{{range loop 0 60}}{{$s = print $s $s}}{{end}}{{$s}}`, "text of more than"},
		"output":  {`{{range loop 0 200000}}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{{end}}`, "its output has more than"},
		"needs":   {`{{range loop 0 100000}}{{nomadVarExists (print "nomad/jobs/needs/" .)}}{{end}}`, "more than 256 variables and services"},
	} {
		job := testbed.ShellJob(id, 1, "exec sleep 86400")
		job.Groups[0].Tasks[0].Templates = []*api.Template{{DestPath: "local/conf", EmbeddedTmpl: c.text}}
		m.register(job)
		m.said(id, c.want)
	}
	m.register(templatedOnce("web"))
	m.allocations("web", "runs beside the others", running(1))
	if m.PID() != pid {
		t.Error("the agent was restarted")
	}
}

func templatedOnce(id string) *api.Job {
	job := testbed.ShellJob(id, 1, "exec sleep 86400")
	job.Groups[0].Tasks[0].Templates = []*api.Template{{DestPath: "local/conf", EmbeddedTmpl: "x", Once: true}}
	return job
}

// TestTemplateWritesNothingForeign has destinations outside of the task's directory: in the job, and by links that
// the task puts in the way while it runs.
func TestTemplateWritesNothingForeign(t *testing.T) {
	m := newMachine(t)
	for _, destination := range []string{"../../x", "/etc/x", "local/../../../x", "local/../..", ""} {
		job := testbed.ShellJob("outside", 1, "exec sleep 86400")
		job.Groups[0].Tasks[0].Templates = []*api.Template{{DestPath: destination, EmbeddedTmpl: "x"}}
		if _, err := m.Client.Jobs().Register(t.Context(), &api.RegisterJobRequest{Job: job}); err == nil {
			t.Errorf("a template with destination %q is accepted", destination)
		}
	}
	outside := filepath.Join(m.Dir, "outside")
	if err := os.Mkdir(outside, 0o777); err != nil {
		t.Fatal(err)
	}
	victim := filepath.Join(outside, "victim")
	if err := os.WriteFile(victim, []byte("untouched"), 0o666); err != nil {
		t.Fatal(err)
	}
	m.color("web", "red")
	job := testbed.ShellJob("web", 1, fmt.Sprintf(`ln -sfn %[1]s local/conf; rm -rf local/dir; ln -s %[2]s local/dir; echo linked; exec sleep 86400`, victim, outside))
	for _, destination := range []string{"local/conf", "local/dir/conf"} {
		job.Groups[0].Tasks[0].Templates = append(job.Groups[0].Tasks[0].Templates, &api.Template{
			DestPath: destination, EmbeddedTmpl: `{{with nomadVar "nomad/jobs/web"}}{{.color}}{{end}}`, ChangeMode: api.TemplateNoop, Splay: ptr(time.Duration(0)),
		})
	}
	m.register(job)
	a := m.allocations("web", "runs", running(1))[0]
	m.waitForLog(a.ID, "task", "linked")
	m.color("web", "green")
	conf := filepath.Join(m.Dir, "node/alloc", a.ID, "task/local/conf")
	m.eventually("the file replaces the link", func(context.Context) error {
		info, err := os.Lstat(conf)
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("it is %s", info.Mode())
		}
		return err
	})
	m.said("web", "Cannot follow a change")
	if list, err := os.ReadDir(outside); err != nil || len(list) != 1 {
		t.Errorf("the directory outside has %v, %v", list, err)
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "untouched" {
		t.Errorf("the file outside is %q, %v", text, err)
	}
}
