// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// requestNode is a node agent that refuses commands with the request that it received.
func requestNode(name string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/client/allocation/{alloc}/exec", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusConflict)
		query := r.URL.Query()
		query.Del("namespace")
		io.WriteString(w, name+" "+r.PathValue("alloc")+" "+query.Encode())
	})
	return mux
}

// jobWithActions has the action flush in two tasks, and dump in one.
func jobWithActions(namespace, id string) *api.Job {
	job := storedJob(id)
	job.Namespace = namespace
	first := job.Groups[0].Tasks[0]
	first.Actions = []*api.Action{{Name: "flush", Command: "/bin/flush", Args: []string{"all"}}, {Name: "dump", Command: "/bin/dump"}}
	second := *first
	second.Name, second.Actions = "side", []*api.Action{{Name: "flush", Command: "/bin/flush"}}
	job.Groups[0].Tasks = append(job.Groups[0].Tasks, &second)
	return job
}

// newWithActions is an API with the job cache, whose allocations aaaaaaaa and bbbbbbbb run on this node and have
// ended, and an allocation of another namespace.
func newWithActions(t *testing.T) *Handler {
	t.Helper()
	srv := newIdleServer(t)
	srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: localNode, Name: "n", Status: api.NodeStatusReady}}, state.PutNamespace(&api.Namespace{Name: "other"}, nil))
	place := func(namespace, job, id, status string) {
		srv.apply(t, &state.RegisterJob{Job: jobWithActions(namespace, job)})
		stored := srv.Store().Snapshot().Job(namespace, job)
		srv.apply(t, &state.CommitPlacement{Placement: &state.Placement{Job: stored, Time: 1, Place: []*api.Allocation{{
			ID: id, Namespace: namespace, JobID: job, Job: stored, NodeID: localNode, Name: job + ".web[0]", Group: stored.Groups[0].Name,
			DesiredStatus: api.AllocDesiredRun, ClientStatus: status,
		}}}})
	}
	place("default", "cache", "aaaaaaaa", api.AllocClientRunning)
	place("default", "cache", "bbbbbbbb", api.AllocClientComplete)
	place("default", "ended", "eeeeeeee", api.AllocClientComplete)
	place("other", "cache", "cccccccc", api.AllocClientRunning)
	srv.apply(t, &state.RegisterJob{Job: storedJob("plain")})
	return New(Config{Server: srv.Server, Node: requestNode("local"), NodeID: func() string { return localNode }})
}

func TestActionsAreListed(t *testing.T) {
	c := serve(t, newWithActions(t))
	got, _, err := c.Jobs().Actions(t.Context(), "cache", nil)
	if err != nil {
		t.Fatal(err)
	}
	group := storedJob("cache").Groups[0].Name
	want := []*api.JobAction{
		{Name: "dump", Command: "/bin/dump", JobID: "cache", TaskGroupName: group, TaskName: "main"},
		{Name: "flush", Command: "/bin/flush", Args: []string{"all"}, JobID: "cache", TaskGroupName: group, TaskName: "main"},
		{Name: "flush", Command: "/bin/flush", JobID: "cache", TaskGroupName: group, TaskName: "side"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got, _, err := c.Jobs().Actions(t.Context(), "plain", nil); err != nil || got == nil || len(got) != 0 {
		t.Errorf("a job without actions: %v, %v", got, err)
	}
	if _, _, err := c.Jobs().Actions(t.Context(), "none", nil); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("no such job: %v", err)
	}
}

// TestActionsRunInTheirTask also asks for actions with other commands, and of allocations of other jobs.
func TestActionsRunInTheirTask(t *testing.T) {
	h := newWithActions(t)
	for query, want := range map[string]string{
		"action=dump":                                  "local aaaaaaaa action=dump&task=main",
		"action=dump&allocID=aaaaaaaa&tty=true":        "local aaaaaaaa action=dump&task=main&tty=true",
		"action=flush&task=side":                       "local aaaaaaaa action=flush&task=side",
		"action=dump&command=[%22sh%22]&other=x&task=": "local aaaaaaaa action=dump&task=main",
		"action=dump&allocID=bbbbbbbb":                 "local bbbbbbbb action=dump&task=main", // the node refuses it
		"action=flush":                                 "2 tasks of job",
		"action=none":                                  "no such action",
		"action=dump&task=side":                        "no such action",
		"action=dump&group=none":                       "no such action",
		"action=dump&group=none&allocID=aaaaaaaa":      "leave out the group",
		"":                             "name the action",
		"action=dump&allocID=cccccccc": "not found",
		"action=dump&allocID=aaaa":     "not found",
		"action=dump&allocID=cccccccc&namespace=default": "not found",
		"action=dump&allocID=../../x":                    "not found",
	} {
		got := request(h, http.MethodGet, "/v1/job/cache/action?"+query, "").body
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
	for job, want := range map[string]string{"ended": "no running allocation", "plain": "has no actions", "none": "not found"} {
		if got := request(h, http.MethodGet, "/v1/job/"+job+"/action?action=dump", "").body; !strings.Contains(got, want) {
			t.Errorf("job %s: got %q, want %q", job, got, want)
		}
	}
	if got := request(h, http.MethodGet, "/v1/job/cache/action?action=dump&namespace=other", "").body; got != "local cccccccc action=dump&task=main" {
		t.Errorf("another namespace: %q", got)
	}
}
