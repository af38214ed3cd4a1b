// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	nomad "github.com/hashicorp/nomad/api"
)

// foreign drives the server with the public client of another make, unchanged:
// what it can do, every tool built on it can.
type foreign struct {
	*machine
	api *nomad.Client
}

func newForeign(t *testing.T) *foreign {
	t.Helper()
	m := newMachine(t)
	c, err := nomad.NewClient(&nomad.Config{Address: "http://" + m.Addr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &foreign{m, c}
}

// foreignJob is a service whose task says a word and then waits.
func foreignJob(id, word string, count int) *nomad.Job {
	group := nomad.NewTaskGroup("web", count)
	group.Update = &nomad.UpdateStrategy{MinHealthyTime: ptr(time.Duration(0)), MaxParallel: ptr(count)}
	group.EphemeralDisk = &nomad.EphemeralDisk{SizeMB: ptr(10)}
	group.RestartPolicy = &nomad.RestartPolicy{Attempts: ptr(0), Mode: ptr("fail")}
	group.AddTask(&nomad.Task{
		Name: "main", Driver: "raw_exec",
		Config:    map[string]any{"command": "/bin/sh", "args": []string{"-c", "echo " + word + "; exec sleep 600"}},
		Resources: &nomad.Resources{CPU: ptr(1), MemoryMB: ptr(10)},
		LogConfig: &nomad.LogConfig{MaxFiles: ptr(2), MaxFileSizeMB: ptr(1)},
	})
	return nomad.NewServiceJob(id, id, "global", 50).AddDatacenter("*").AddTaskGroup(group)
}

// must unwraps what cannot fail in this test.
func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (f *foreign) registerJob(job *nomad.Job) *nomad.JobRegisterResponse {
	f.t.Helper()
	resp, meta, err := f.api.Jobs().Register(job, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	if resp.EvalID == "" || meta.LastIndex == 0 {
		f.t.Fatalf("registering answered %+v at index %d", resp, meta.LastIndex)
	}
	if resp.Warnings != "" {
		f.t.Errorf("registering warned: %s", resp.Warnings)
	}
	return resp
}

// running waits until a job has n running allocations of a version, with the
// client's own blocking queries, and returns them.
func (f *foreign) running(job string, n int, version uint64) []*nomad.AllocationListStub {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	q := (&nomad.QueryOptions{WaitTime: 10 * time.Second}).WithContext(ctx)
	var seen []string
	for ctx.Err() == nil {
		all, meta, err := f.api.Jobs().Allocations(job, false, q)
		if err != nil {
			f.t.Fatalf("allocations of %s: %v", job, err)
		}
		var up []*nomad.AllocationListStub
		seen = nil
		live := 0
		for _, a := range all {
			seen = append(seen, fmt.Sprintf("%s v%d %s/%s", a.Name, a.JobVersion, a.DesiredStatus, a.ClientStatus))
			if a.ClientStatus == "running" {
				live++
				if a.JobVersion == version && a.DesiredStatus == "run" {
					up = append(up, a)
				}
			}
		}
		if len(up) == n && live == n {
			return up
		}
		q.WaitIndex = meta.LastIndex
	}
	f.t.Fatalf("%s never had %d allocations of version %d running, and nothing else; last %q", job, n, version, seen)
	return nil
}

func TestForeignClientRunsAJob(t *testing.T) {
	f := newForeign(t)
	jobs := f.api.Jobs()

	plan, _, err := jobs.Plan(foreignJob("web", "one", 2), true, nil)
	if err != nil || plan.Diff == nil || plan.Diff.Type != "Added" || plan.Annotations.DesiredTGUpdates["web"].Place != 2 {
		t.Fatalf("the plan of a new job is %+v, %v; want two to place", plan, err)
	}
	valid, _, err := jobs.Validate(foreignJob("web", "one", 2), nil)
	if err != nil || len(valid.ValidationErrors) > 0 {
		t.Fatalf("validate: %+v, %v", valid, err)
	}

	registered := f.registerJob(foreignJob("web", "one", 2))
	allocs := f.running("web", 2, 0)

	info, meta, err := jobs.Info("web", nil)
	if err != nil || *info.ID != "web" || *info.Status != "running" || *info.Version != 0 || !meta.KnownLeader {
		t.Fatalf("info: %+v, %+v, %v", info, meta, err)
	}
	list, _, err := jobs.List(&nomad.QueryOptions{Prefix: "we"})
	if err != nil || len(list) != 1 || list[0].JobSummary.Summary["web"].Running != 2 {
		t.Fatalf("list: %+v, %v", list, err)
	}
	summary, _, err := jobs.Summary("web", nil)
	if err != nil || summary.Summary["web"].Running != 2 {
		t.Fatalf("summary: %+v, %v", summary, err)
	}
	evals, _, err := jobs.Evaluations("web", nil)
	if err != nil || len(evals) == 0 {
		t.Fatalf("evaluations: %v, %v", evals, err)
	}
	eval, _, err := f.api.Evaluations().Info(registered.EvalID, nil)
	if err != nil || eval.JobID != "web" || eval.Status != "complete" {
		t.Fatalf("evaluation: %+v, %v", eval, err)
	}
	made, _, err := f.api.Evaluations().Allocations(registered.EvalID, nil)
	if err != nil || len(made) != 2 {
		t.Fatalf("the evaluation's allocations: %d, %v; want 2", len(made), err)
	}
	alloc, _, err := f.api.Allocations().Info(allocs[0].ID, nil)
	if err != nil || *alloc.Job.ID != "web" || alloc.TaskStates["main"].State != "running" || *alloc.Resources.CPU != 1 || *alloc.TaskResources["main"].MemoryMB != 10 {
		t.Fatalf("allocation: %+v, %v", alloc, err)
	}
	f.nodesAreShown(alloc.NodeID)
	f.logsSay(alloc, "one")
	f.filesAreShown(alloc)
	f.execAnswers(alloc)
}

func (f *foreign) nodesAreShown(id string) {
	f.t.Helper()
	nodes, _, err := f.api.Nodes().List(nil)
	if err != nil || len(nodes) != 1 || nodes[0].Status != "ready" || !nodes[0].Drivers["raw_exec"].Healthy {
		f.t.Fatalf("nodes: %+v, %v", nodes, err)
	}
	node, _, err := f.api.Nodes().Info(id[:8], nil)
	if err != nil || node.ID != id || node.NodeResources.Cpu.CpuShares == 0 {
		f.t.Fatalf("node: %+v, %v", node, err)
	}
	on, _, err := f.api.Nodes().Allocations(id, nil)
	if err != nil || len(on) != 2 {
		f.t.Fatalf("the node's allocations: %d, %v; want 2", len(on), err)
	}
	found, _, err := f.api.Search().PrefixSearch(id[:6], "nodes", nil)
	if err != nil || len(found.Matches["nodes"]) != 1 {
		f.t.Fatalf("search: %+v, %v", found, err)
	}
}

func (f *foreign) logsSay(alloc *nomad.Allocation, word string) {
	f.t.Helper()
	f.eventually("the log says "+word, func(ctx context.Context) error {
		frames, errs := f.api.AllocFS().Logs(alloc, false, "main", "stdout", "start", 0, nil, (&nomad.QueryOptions{}).WithContext(ctx))
		var text []byte
		for {
			select {
			case frame, ok := <-frames:
				if ok {
					text = append(text, frame.Data...)
					continue
				}
				if strings.TrimSpace(string(text)) != word {
					return fmt.Errorf("the log is %q", text)
				}
				return nil
			case err := <-errs:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
}

func (f *foreign) filesAreShown(alloc *nomad.Allocation) {
	f.t.Helper()
	files, _, err := f.api.AllocFS().List(alloc, "/", nil)
	if err != nil || len(files) == 0 {
		f.t.Fatalf("files: %v, %v", files, err)
	}
	if _, _, err := f.api.AllocFS().Stat(alloc, "alloc/logs/main.stdout.0", nil); err != nil {
		f.t.Errorf("stat: %v", err)
	}
	body, err := f.api.AllocFS().Cat(alloc, "alloc/logs/main.stdout.0", nil)
	if err != nil {
		f.t.Fatalf("cat: %v", err)
	}
	defer body.Close()
	if text, err := io.ReadAll(body); err != nil || strings.TrimSpace(string(text)) != "one" {
		f.t.Errorf("cat: %q, %v", text, err)
	}
}

func (f *foreign) execAnswers(alloc *nomad.Allocation) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	var out, errs bytes.Buffer
	code, err := f.api.Allocations().Exec(ctx, alloc, "main", false, []string{"/bin/sh", "-c", "cat; exit 3"},
		strings.NewReader("hello"), &out, &errs, nil, nil)
	if err != nil || code != 3 || out.String() != "hello" {
		f.t.Errorf("exec: exit %d, %q, %q, %v; want 3 and hello", code, out.String(), errs.String(), err)
	}
}

func TestForeignClientChangesAJob(t *testing.T) {
	f := newForeign(t)
	jobs := f.api.Jobs()
	f.registerJob(foreignJob("web", "one", 1))
	f.running("web", 1, 0)

	plan, _, err := jobs.Plan(foreignJob("web", "two", 1), true, nil)
	if err != nil || plan.Diff.Type != "Edited" || plan.Annotations.DesiredTGUpdates["web"].DestructiveUpdate != 1 {
		t.Fatalf("the plan of a changed job is %+v, %v; want one to replace", plan, err)
	}
	if _, _, err := jobs.EnforceRegister(foreignJob("web", "two", 1), plan.JobModifyIndex+100, nil); err == nil || !strings.Contains(err.Error(), nomad.RegisterEnforceIndexErrPrefix) {
		t.Errorf("registering with a wrong index: got %v, want %q in it", err, nomad.RegisterEnforceIndexErrPrefix)
	}
	if _, _, err := jobs.EnforceRegister(foreignJob("web", "two", 1), plan.JobModifyIndex, nil); err != nil {
		t.Fatalf("registering with the planned index: %v", err)
	}
	allocs := f.running("web", 1, 1)
	alloc, _, err := f.api.Allocations().Info(allocs[0].ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.logsSay(alloc, "two")

	versions, diffs, _, err := jobs.Versions("web", true, nil)
	if err != nil || len(versions) != 2 || len(diffs) != 1 || diffs[0].Type != "Edited" {
		t.Fatalf("versions: %d, diffs %+v, %v", len(versions), diffs, err)
	}
	deployment, _, err := jobs.LatestDeployment("web", nil)
	if err != nil || deployment == nil || deployment.JobVersion != 1 {
		t.Fatalf("deployment: %+v, %v", deployment, err)
	}
	if _, _, err := f.api.Deployments().Info(deployment.ID, nil); err != nil {
		t.Error(err)
	}

	if _, _, err := jobs.Scale("web", "web", ptr(3), "more", false, nil, nil); err != nil {
		t.Fatalf("scale: %v", err)
	}
	f.running("web", 3, 2)
	scale, _, err := jobs.ScaleStatus("web", nil)
	if err != nil || scale.TaskGroups["web"].Desired != 3 || len(scale.TaskGroups["web"].Events) != 1 {
		t.Fatalf("scale status: %+v, %v", scale, err)
	}

	if _, _, err := jobs.Revert("web", 0, nil, nil, "", ""); err != nil {
		t.Fatalf("revert: %v", err)
	}
	reverted := f.running("web", 1, 3)
	if alloc, _, err = f.api.Allocations().Info(reverted[0].ID, nil); err != nil {
		t.Fatal(err)
	}
	f.logsSay(alloc, "one")

	if err := f.api.Allocations().Restart(alloc, "main", nil); err != nil {
		t.Errorf("restart: %v", err)
	}
	f.eventually("the task was restarted", func(ctx context.Context) error {
		a, _, err := f.api.Allocations().Info(alloc.ID, nil)
		if err == nil && a.TaskStates["main"].Restarts == 0 {
			err = fmt.Errorf("it is %+v", a.TaskStates["main"])
		}
		return err
	})
	if _, err := f.api.Allocations().Stop(alloc, nil); err != nil {
		t.Errorf("stop the allocation: %v", err)
	}
	f.eventually("another took its place", func(ctx context.Context) error {
		all := must[[]*nomad.AllocationListStub](t)(f.allocationsOf("web"))
		for _, a := range all {
			if a.ID != alloc.ID && a.ClientStatus == "running" {
				return nil
			}
		}
		return fmt.Errorf("there are %d allocations", len(all))
	})

	if _, _, err := jobs.Deregister("web", false, nil); err != nil {
		t.Fatalf("stop: %v", err)
	}
	f.running("web", 0, 0)
	if info, _, err := jobs.Info("web", nil); err != nil || !*info.Stop {
		t.Errorf("the stopped job is %+v, %v", info, err)
	}
	if _, _, err := jobs.Deregister("web", true, nil); err != nil {
		t.Fatalf("purge: %v", err)
	}
	if _, _, err := jobs.Info("web", nil); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("the purged job: got %v, want 404", err)
	}
	if err := f.api.System().GarbageCollect(); err != nil {
		t.Errorf("gc: %v", err)
	}
}

func (f *foreign) allocationsOf(job string) ([]*nomad.AllocationListStub, error) {
	all, _, err := f.api.Jobs().Allocations(job, false, nil)
	return all, err
}

func TestForeignClientFollowsEvents(t *testing.T) {
	f := newForeign(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	topics := map[nomad.Topic][]string{nomad.TopicJob: {"web"}, nomad.TopicAllocation: {"web"}, nomad.TopicEvaluation: {"web"}}
	stream, err := f.api.EventStream().Stream(ctx, topics, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.registerJob(foreignJob("other", "no", 1))
	f.registerJob(foreignJob("web", "one", 1))
	seen := map[string]bool{}
	var last uint64
	for !seen["Job"] || !seen["Evaluation"] || !seen["running"] {
		batch, ok := <-stream
		if !ok || batch.Err != nil {
			t.Fatalf("the stream ended after %v: %+v", seen, batch)
		}
		if batch.Index <= last {
			t.Errorf("index %d came after %d", batch.Index, last)
		}
		last = batch.Index
		for _, e := range batch.Events {
			seen[string(e.Topic)] = true
			switch e.Topic {
			case nomad.TopicJob:
				if job, err := e.Job(); err != nil || *job.ID != "web" {
					t.Errorf("a job's event holds %+v, %v", job, err)
				}
			case nomad.TopicAllocation:
				a, err := e.Allocation()
				if err != nil || a.JobID != "web" {
					t.Fatalf("an allocation's event holds %+v, %v", a, err)
				}
				seen[a.ClientStatus] = true
			}
		}
	}
	again, err := f.api.EventStream().Stream(ctx, topics, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if batch := <-again; batch.Err != nil || batch.Index > last {
		t.Errorf("resumed at 1, the stream begins with %+v; want what was before %d", batch, last)
	}
}

// leaderIsAMember does as those do that mark the leader in a list of servers.
func (f *foreign) leaderIsAMember() {
	f.t.Helper()
	leader := must[string](f.t)(f.api.Status().RegionLeader("global"))
	members := must[*nomad.ServerMembers](f.t)(f.api.Agent().Members())
	if members.ServerDC != "dc1" || len(members.Members) != 1 {
		f.t.Fatalf("the members are %+v", members)
	}
	m := members.Members[0]
	for _, tag := range []string{"dc", "id", "port", "region", "role", "rpc_addr", "build", "raft_vsn"} {
		if m.Tags[tag] == "" {
			f.t.Errorf("the member has no tag %s: %v", tag, m.Tags)
		}
	}
	if at := net.JoinHostPort(m.Tags["rpc_addr"], m.Tags["port"]); at != leader || net.JoinHostPort(m.Addr, m.Tags["port"]) != leader {
		f.t.Errorf("the member is at %s, the leader at %s", at, leader)
	}
}

func TestForeignClientSeesTheCluster(t *testing.T) {
	f := newForeign(t)
	if leader := must[string](t)(f.api.Status().Leader()); leader == "" {
		t.Error("no leader")
	}
	if peers := must[[]string](t)(f.api.Status().Peers()); len(peers) != 1 {
		t.Errorf("peers are %q", peers)
	}
	if regions := must[[]string](t)(f.api.Regions().List()); len(regions) != 1 || regions[0] != "global" {
		t.Errorf("regions are %q", regions)
	}
	self := must[*nomad.AgentSelf](t)(f.api.Agent().Self())
	if self.Member.Name == "" {
		t.Errorf("the agent is %+v", self)
	}
	if dc := must[string](t)(f.api.Agent().Datacenter()); dc != "dc1" {
		t.Errorf("the agent's datacenter is %q", dc)
	}
	f.leaderIsAMember()
	if health := must[*nomad.AgentHealthResponse](t)(f.api.Agent().Health()); !health.Server.Ok || !health.Client.Ok {
		t.Errorf("health is %+v", health)
	}
	namespaces, _, err := f.api.Namespaces().List(nil)
	if err != nil || len(namespaces) != 1 || namespaces[0].Name != "default" {
		t.Errorf("namespaces are %+v, %v", namespaces, err)
	}
	job, err := f.api.Jobs().ParseHCL("job \"p\" {\n  group \"g\" {\n    task \"t\" {\n      driver = \"mock\"\n    }\n  }\n}", true)
	if err != nil || *job.ID != "p" || *job.Priority != 50 {
		t.Errorf("parse: %+v, %v", job, err)
	}
	if _, err := f.api.Jobs().ParseHCL("job \"p\" {\n  grop \"g\" {\n}\n}", true); err == nil || !strings.Contains(err.Error(), "group") {
		t.Errorf("parse of a mistyped block: %v; want it to name group", err)
	}
}
