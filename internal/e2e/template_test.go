// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// templated returns a job whose task writes its configuration into local/starts whenever it starts, and after each
// SIGHUP. The configuration is the item "color" of the job's variable.
func templated(id, changeMode string) *api.Job {
	job := testbed.ShellJob(id, 1, `
note() { echo "$1 $(cat local/conf)" >> local/starts; }
trap 'note reloaded' HUP
note started
while :; do sleep 86400 & wait $!; done`)
	job.Groups[0].Tasks[0].Templates = []*api.Template{{
		DestPath: "local/conf", EmbeddedTmpl: `{{with nomadVar "nomad/jobs/` + id + `"}}{{.color}}{{end}}`,
		ChangeMode: changeMode, Splay: ptr(time.Duration(0)),
	}}
	if changeMode == api.TemplateSignal {
		job.Groups[0].Tasks[0].Templates[0].ChangeSignal = "SIGHUP"
	}
	return job
}

// canaryTemplates returns a template with the password of the variable of the job "web".
func canaryTemplates() []*api.Template {
	return []*api.Template{{DestPath: "secrets/conf", EmbeddedTmpl: `{{with nomadVar "nomad/jobs/web"}}{{.password}}{{end}}`}}
}

// color stores the variable of a templated job.
func (m *machine) color(job, color string) {
	m.t.Helper()
	m.eventually("the variable is stored", func(ctx context.Context) error {
		_, err := m.Client.Variables().Put(ctx, &api.Variable{
			VariableMetadata: api.VariableMetadata{Path: "nomad/jobs/" + job}, Items: map[string]string{"color": color},
		})
		return err
	})
}

// noted waits until the task of a templated job on a node has noted as many lines as are wanted, and compares them.
func (m *machine) noted(alloc string, want ...string) {
	m.t.Helper()
	path := filepath.Join(m.Dir, "node/alloc", alloc, "task/local/starts")
	m.eventually(fmt.Sprintf("the task notes %q", want), func(context.Context) error {
		text, err := os.ReadFile(path)
		if lines := strings.Fields(strings.ReplaceAll(string(text), " ", "-")); len(lines) < len(want) {
			return errors.Join(err, fmt.Errorf("it has noted %q", lines))
		}
		return nil
	})
	if d := cmp.Diff(want, read(m.t, path)); d != "" {
		m.t.Fatalf("what the task noted (-want +got):\n%s", d)
	}
}

// restarts returns how often the task of an allocation was restarted, and the types of its events.
func (m *machine) restarts(alloc string) (n uint64, events string) {
	m.t.Helper()
	a, _, err := m.Client.Allocations().Get(m.t.Context(), alloc, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	s := a.TaskStates["task"]
	return s.Restarts, eventTypes(s)
}

func eventTypes(s *api.TaskState) string {
	types := make([]string, len(s.Events))
	for i, e := range s.Events {
		types[i] = e.Type
	}
	return strings.Join(types, ", ")
}

// TestTemplateWaitsForItsVariable registers a job before its variable exists. The task says what it waits for,
// and starts with a file and an environment variable once the variable is stored.
func TestTemplateWaitsForItsVariable(t *testing.T) {
	m := newMachine(t)
	job := testbed.ShellJob("web", 1, `echo "file $(cat secrets/conf), environment $COLOR"; exec sleep 86400`)
	job.Groups[0].Tasks[0].Templates = []*api.Template{
		{DestPath: "secrets/conf", EmbeddedTmpl: `{{with nomadVar "nomad/jobs/web"}}{{.color | toUpper}}{{end}}`, Perms: "0400"},
		{DestPath: "local/env", EmbeddedTmpl: "# of the job\nCOLOR={{with nomadVar \"nomad/jobs/web\"}}{{.color}}{{end}}\n", Envvars: true},
	}
	response, err := m.Client.Jobs().Register(t.Context(), &api.RegisterJobRequest{Job: job})
	if err != nil {
		t.Fatal(err)
	}
	const next = "create it with: reeve var put -namespace default nomad/jobs/web KEY=VALUE"
	if !strings.Contains(response.Warnings, next) {
		t.Errorf("the warnings name no command:\n%s", response.Warnings)
	}
	m.said("web", next)
	a := m.allocations("web", "waits", func(l []*api.AllocationListStub) bool { return len(l) == 1 })[0]
	if s := a.TaskStates["task"]; s.State != api.TaskStatePending || !s.StartedAt.IsZero() {
		t.Errorf("a task whose variable is missing is %s", s.State)
	}
	if t := m.trouble("web", api.TroubleTemplate); !strings.Contains(t.Message, next) || t.Task != "task" {
		m.t.Errorf("the trouble names no command: %+v", t)
	}
	if out := m.reeve("alloc", "status", a.ID); !strings.Contains(out, "secrets/conf") || strings.Count(out, next) < 3 {
		t.Errorf("alloc status does not show what both templates wait for:\n%s", out)
	}
	m.color("web", "green")
	a = m.allocations("web", "runs", running(1))[0]
	m.waitForLog(a.ID, "task", "file GREEN, environment green")
	info, err := os.Stat(filepath.Join(m.Dir, "node/alloc", a.ID, "task/secrets/conf"))
	if err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("the file is %v, %v", info, err)
	}
}

// TestTemplateChangeReachesTheTask changes variables of running tasks. One change causes one restart, or one
// signal to the same process, or nothing but a new file.
func TestTemplateChangeReachesTheTask(t *testing.T) {
	m := newMachine(t)
	modes := []string{api.TemplateRestart, api.TemplateSignal, api.TemplateNoop}
	allocs := map[string]string{}
	for _, mode := range modes {
		m.color(mode, "red")
		m.register(templated(mode, mode))
		allocs[mode] = m.allocations(mode, "runs", running(1))[0].ID
		m.noted(allocs[mode], "started red")
	}
	for _, color := range []string{"green", "blue"} {
		for _, mode := range modes {
			m.color(mode, color)
			m.eventually(mode+": the file is "+color, func(context.Context) error {
				text, err := os.ReadFile(filepath.Join(m.Dir, "node/alloc", allocs[mode], "task/local/conf"))
				if err == nil && string(text) != color {
					err = fmt.Errorf("it is %q", text)
				}
				return err
			})
		}
		if color == "green" {
			m.noted(allocs[api.TemplateRestart], "started red", "started green")
			m.noted(allocs[api.TemplateSignal], "started red", "reloaded green")
		}
	}
	m.noted(allocs[api.TemplateRestart], "started red", "started green", "started blue")
	m.noted(allocs[api.TemplateSignal], "started red", "reloaded green", "reloaded blue")
	m.noted(allocs[api.TemplateNoop], "started red")
}

// TestTemplateSurvivesItsAgentAndServers restarts the agent of a node without a change, with a change meanwhile, and
// stops the servers. A change causes one restart, and nothing else causes any.
func TestTemplateSurvivesItsAgentAndServers(t *testing.T) {
	server, node := unstarted(t), unstarted(t)
	server.Args = []string{"-server"}
	server.start()
	server.eventually("the server answers", func(ctx context.Context) error {
		_, _, err := server.Client.Nodes().List(ctx, nil)
		return err
	})
	node.Args = []string{"-client", "-node", "node-0", "-servers", "http://" + server.Addr, "-config", node.configured(portsOfNode(0))}
	node.start()
	server.color("web", "red")
	server.register(templated("web", api.TemplateRestart))
	a := server.allocations("web", "runs", running(1))[0].ID
	node.noted(a, "started red")

	node.Kill()
	node.start()
	server.eventually("the task is found again", func(context.Context) error {
		if n, events := server.restarts(a); n != 0 || !strings.Contains(events, api.EventRestored) {
			return fmt.Errorf("%d restarts; %s", n, events)
		}
		return nil
	})
	node.noted(a, "started red")

	node.Kill()
	server.color("web", "green")
	node.start()
	node.noted(a, "started red", "started green")

	server.Kill()
	node.eventually("the node notices that the servers are away", func(context.Context) error {
		if !strings.Contains(node.Output(), "cannot read the values of templates") {
			return errors.New("it logs nothing of it")
		}
		return nil
	})
	node.noted(a, "started red", "started green")
	server.start()
	server.color("web", "blue")
	node.noted(a, "started red", "started green", "started blue")
	if list := server.allocations("web", "runs", running(1)); slices.ContainsFunc(list, func(s *api.AllocationListStub) bool { return s.ID != a }) {
		t.Errorf("the task has %d allocations, want the first one alone", len(list))
	}
}
