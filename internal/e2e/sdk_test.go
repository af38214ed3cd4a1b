// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// sdkService is a service looked at as the command line of a DC/OS package
// does. Its pods are ready when the test opens their gates.
type sdkService struct {
	*machine
	name  string
	gates string // a directory; a pod is ready while it has a file of the pod's name
}

func newSDKService(t *testing.T, name string) *sdkService {
	t.Helper()
	return &sdkService{newMachine(t), name, t.TempDir()}
}

func (s *sdkService) open(pods ...string) {
	s.t.Helper()
	for _, pod := range pods {
		if err := os.WriteFile(filepath.Join(s.gates, pod), nil, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *sdkService) shut(pods ...string) {
	s.t.Helper()
	for _, pod := range pods {
		if err := os.Remove(filepath.Join(s.gates, pod)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// job has so many pods of hello and of world; what world's tasks are told is
// what differs between versions.
func (s *sdkService) job(hello, world int, word string) *api.Job {
	ready := func(group string) []*api.Service {
		gate := filepath.Join(s.gates, group+"-${NOMAD_ALLOC_INDEX}")
		return []*api.Service{{Name: group, Provider: "nomad", Checks: []*api.Check{{
			Name: "ready", Type: api.CheckScript, TaskName: "server", Command: "/bin/sh", Args: []string{"-c", "test -e " + gate},
			Interval: time.Second, Timeout: 5 * time.Second,
		}}}}
	}
	update := &api.Update{
		MaxParallel: ptr(1), MinHealthyTime: ptr(time.Duration(0)), HealthyDeadline: ptr(5 * time.Minute),
		ProgressDeadline: ptr(10 * time.Minute), HealthCheck: ptr("checks"),
	}
	task := func(name, word string) *api.Task {
		return &api.Task{
			Name: name, Driver: "raw_exec", Resources: &api.Resources{CPU: ptr(1), MemoryMB: ptr(10)},
			Logs:   &api.Logs{MaxFiles: ptr(2), MaxFileSizeMB: ptr(1)},
			Config: map[string]any{"command": "/bin/sh", "args": []any{"-c", "echo " + word + "; exec sleep 600"}},
		}
	}
	group := func(name string, count int, tasks ...*api.Task) *api.Group {
		tasks[0].Services = ready(name)
		return &api.Group{
			Name: name, Count: ptr(count), Tasks: tasks, Update: update,
			EphemeralDisk: &api.EphemeralDisk{SizeMB: ptr(10)},
		}
	}
	return &api.Job{
		ID: s.name, Name: s.name, Type: api.JobTypeService, Datacenters: []string{"*"},
		Plans: []*api.PlanSpec{{Name: api.PlanDeploy, Strategy: api.StrategySerial}},
		Groups: []*api.Group{
			group("hello", hello, task("server", "hello")),
			group("world", world, task("server", word), task("sidecar", word)),
		},
	}
}

// ask is one request as the command line sends it, through the router of the
// cluster.
func (s *sdkService) ask(method, path, body string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.Addr+"/service/"+s.name+"/v1/"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// tree draws a plan as the command line does, but for the phases' strategies:
// nothing is limited where nothing is left to do.
func (s *sdkService) tree(name string) (int, string) {
	s.t.Helper()
	code, body := s.ask(http.MethodGet, "plans/"+name, "")
	var plan struct {
		Strategy, Status string
		Phases           []struct {
			Name, Status string
			Steps        []struct{ Name, Status string }
		}
	}
	if err := json.Unmarshal([]byte(body), &plan); err != nil {
		return code, body
	}
	text := fmt.Sprintf("%s (%s strategy) (%s)\n", name, plan.Strategy, plan.Status)
	for i, ph := range plan.Phases {
		branch, stem := "├─", "│ "
		if i == len(plan.Phases)-1 {
			branch, stem = "└─", "  "
		}
		text += fmt.Sprintf("%s %s (%s)\n", branch, ph.Name, ph.Status)
		for j, st := range ph.Steps {
			branch = "├─"
			if j == len(ph.Steps)-1 {
				branch = "└─"
			}
			text += fmt.Sprintf("%s %s %s (%s)\n", stem, branch, st.Name, st.Status)
		}
	}
	return code, text
}

// shows waits until a plan is answered with a status and this tree.
func (s *sdkService) shows(name string, code int, want string) {
	s.t.Helper()
	want = strings.TrimLeft(want, "\n")
	s.eventually("plan "+name, func(context.Context) error {
		gotCode, got := s.tree(name)
		if diff := cmp.Diff(want, got); diff != "" || gotCode != code {
			return fmt.Errorf("it is answered %d, want %d (-want +got):\n%s", gotCode, code, diff)
		}
		return nil
	})
}

// taskIDs are the ids of a pod's tasks by name.
func (s *sdkService) taskIDs(pod string) map[string]string {
	s.t.Helper()
	_, body := s.ask(http.MethodGet, "pod/"+pod+"/status", "")
	var status struct {
		Tasks []struct{ ID, Name, Status string }
	}
	if err := json.Unmarshal([]byte(body), &status); err != nil {
		s.t.Fatalf("pod %s: %s", pod, body)
	}
	ids := map[string]string{}
	for _, t := range status.Tasks {
		ids[t.Name+" "+t.Status] = t.ID
	}
	return ids
}

const deployed = `
deploy (serial strategy) (COMPLETE)
├─ hello (COMPLETE)
│  └─ hello-0:[server] (COMPLETE)
└─ world (COMPLETE)
   ├─ world-0:[server, sidecar] (COMPLETE)
   └─ world-1:[server, sidecar] (COMPLETE)
`

// TestSDKUseCases goes through the life of a service as the SDK's manual tells
// it: initial deployment, a change of the configuration, a change of mind, a pod
// restarted, a pod replaced, a pod paused, and the end.
func TestSDKUseCases(t *testing.T) {
	s := newSDKService(t, "hello-world")
	s.register(s.job(1, 2, "one"))
	s.shows("deploy", http.StatusAccepted, `
deploy (serial strategy) (STARTED)
├─ hello (STARTED)
│  └─ hello-0:[server] (STARTED)
└─ world (PENDING)
   ├─ world-0:[server, sidecar] (PENDING)
   └─ world-1:[server, sidecar] (PENDING)
`)
	s.open("hello-0")
	s.shows("deploy", http.StatusAccepted, `
deploy (serial strategy) (IN_PROGRESS)
├─ hello (COMPLETE)
│  └─ hello-0:[server] (COMPLETE)
└─ world (STARTED)
   ├─ world-0:[server, sidecar] (STARTED)
   └─ world-1:[server, sidecar] (PENDING)
`)
	s.open("world-0", "world-1")
	s.shows("deploy", http.StatusOK, deployed)
	if code, body := s.ask(http.MethodGet, "health", ""); code != http.StatusOK {
		t.Errorf("health: %d %s", code, body)
	}

	// Another hello, and other worlds; world-1 has not been reached when it is
	// changed again.
	s.shut("world-0")
	s.register(s.job(2, 2, "two"))
	s.open("hello-1")
	s.shows("deploy", http.StatusAccepted, `
deploy (serial strategy) (IN_PROGRESS)
├─ hello (COMPLETE)
│  ├─ hello-0:[server] (COMPLETE)
│  └─ hello-1:[server] (COMPLETE)
└─ world (STARTED)
   ├─ world-0:[server, sidecar] (STARTED)
   └─ world-1:[server, sidecar] (PENDING)
`)
	s.register(s.job(2, 2, "three"))
	s.open("world-0")
	s.shows("deploy", http.StatusOK, `
deploy (serial strategy) (COMPLETE)
├─ hello (COMPLETE)
│  ├─ hello-0:[server] (COMPLETE)
│  └─ hello-1:[server] (COMPLETE)
└─ world (COMPLETE)
   ├─ world-0:[server, sidecar] (COMPLETE)
   └─ world-1:[server, sidecar] (COMPLETE)
`)
	var ids []string
	if _, body := s.ask(http.MethodGet, "configurations", ""); json.Unmarshal([]byte(body), &ids) != nil || len(ids) != 3 {
		t.Errorf("configurations: %s, want three", body)
	}

	s.recovers("restart", true)
	s.recovers("replace", false)
	s.pauses()
	s.uninstalls()
}

// recovers has a pod restarted or replaced.
func (s *sdkService) recovers(verb string, inPlace bool) {
	s.t.Helper()
	before := s.taskIDs("world-0")
	code, body := s.ask(http.MethodPost, "pod/world-0/"+verb, "")
	if code != http.StatusOK || !strings.Contains(body, "world-0-sidecar") {
		s.t.Fatalf("%s: %d %s", verb, code, body)
	}
	s.eventually("world-0 is back after "+verb, func(context.Context) error {
		in, _, err := s.Client.Instances().Get(s.t.Context(), s.name, "world-0", nil)
		if err != nil {
			return err
		}
		after := s.taskIDs("world-0")
		same := after["world-0-server RUNNING"] == before["world-0-server RUNNING"]
		restarted := in.TaskStates["server"] != nil && in.TaskStates["server"].Launch != ""
		if after["world-0-server RUNNING"] == "" || same != inPlace || inPlace && !restarted {
			return fmt.Errorf("its tasks were %v and are %v", before, after)
		}
		return nil
	})
	s.eventually("recovery after "+verb+" is complete", func(context.Context) error {
		if code, tree := s.tree("recovery"); code != http.StatusOK {
			return fmt.Errorf("%d %s", code, tree)
		}
		return nil
	})
}

// pauses has a pod stand still for a while.
func (s *sdkService) pauses() {
	s.t.Helper()
	for _, c := range []struct{ verb, want string }{{"pause", "world-1-sidecar PAUSED"}, {"resume", "world-1-sidecar RUNNING"}} {
		if code, body := s.ask(http.MethodPost, "pod/world-1/"+c.verb, `["sidecar"]`); code != http.StatusOK {
			s.t.Fatalf("%s: %d %s", c.verb, code, body)
		}
		s.eventually(c.want, func(context.Context) error {
			if ids := s.taskIDs("world-1"); ids[c.want] == "" || ids["world-1-server RUNNING"] == "" {
				return fmt.Errorf("its tasks are %v", ids)
			}
			return nil
		})
	}
}

// uninstalls has the service forgotten. Its only plan is deploy then, until it is
// complete and for some minutes after.
func (s *sdkService) uninstalls() {
	s.t.Helper()
	if _, err := s.Client.Jobs().Deregister(s.t.Context(), s.name, client.DeregisterOptions{Purge: true}); err != nil {
		s.t.Fatal(err)
	}
	s.eventually("the service is gone", func(context.Context) error {
		var names []string
		_, body := s.ask(http.MethodGet, "plans", "")
		if json.Unmarshal([]byte(body), &names) != nil || !slices.Equal(names, []string{"deploy"}) {
			s.t.Fatalf("while it is uninstalled its plans are %s", body)
		}
		if code, tree := s.tree("deploy"); code != http.StatusOK {
			return fmt.Errorf("%d %s", code, tree)
		}
		return nil
	})
	if code, body := s.ask(http.MethodGet, "pod", ""); code != http.StatusNotFound || body != "Service hello-world not found" {
		s.t.Errorf("pods of an uninstalled service: %d %s", code, body)
	}
}

// TestSDKSidecarPlan runs a plan that a service declares beside its deploy plan,
// as packages do for backups.
func TestSDKSidecarPlan(t *testing.T) {
	s := newSDKService(t, "hello-world")
	job := s.job(1, 1, "one")
	task := *job.Groups[1].Tasks[1]
	task.Name, task.Goal = "backup", api.GoalFinish
	task.Config = map[string]any{"command": "/bin/sh", "args": []any{"-c", `test "$BUCKET" = s3`}}
	job.Groups[1].Tasks = append(job.Groups[1].Tasks, &task)
	job.Plans = []*api.PlanSpec{{Name: "backup", Phases: []*api.PhaseSpec{{Name: "world", Steps: []*api.StepSpec{{Tasks: []string{"backup"}}}}}}}
	s.open("hello-0", "world-0")
	s.register(job)
	s.shows("backup", http.StatusAccepted, `
backup (serial strategy) (WAITING)
└─ world (WAITING)
   └─ world-0:[backup] (WAITING)
`)
	s.eventually("the service is deployed", func(context.Context) error {
		if code, tree := s.tree("deploy"); code != http.StatusOK {
			return fmt.Errorf("%d %s", code, tree)
		}
		return nil
	})
	for _, c := range []struct {
		verb, body string
		code       int
		says       string
	}{
		{"start", `{"not-valid-envname": "x"}`, http.StatusBadRequest, "not-valid-envname is not a valid environment variable name"},
		{"stop", "", http.StatusAlreadyReported, "already"},
		{"start", `{"BUCKET": "s3"}`, http.StatusOK, "Received cmd: start backup with parameters: {BUCKET=s3}"},
	} {
		if code, body := s.ask(http.MethodPost, "plans/backup/"+c.verb, c.body); code != c.code || !strings.Contains(body, c.says) {
			t.Fatalf("%s %s: %d %s, want %d and %q", c.verb, c.body, code, body, c.code, c.says)
		}
	}
	s.shows("backup", http.StatusOK, `
backup (serial strategy) (COMPLETE)
└─ world (COMPLETE)
   └─ world-0:[backup] (COMPLETE)
`)
	if ids := s.taskIDs("world-0"); ids["world-0-backup FINISHED"] == "" || ids["world-0-server RUNNING"] == "" {
		t.Errorf("the pod's tasks are %v", ids)
	}
}
