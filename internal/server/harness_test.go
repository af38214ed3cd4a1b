// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is a server with simulated nodes.
type cluster struct {
	testing.TB
	*server.Server
	cfg   server.Config
	nodes map[string]*fakeNode
}

// simulate runs f against a server that keeps its log in memory, in a bubble
// of its own time: minutes pass in no time.
func simulate(t *testing.T, f func(c *cluster)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		c := start(t, server.Config{})
		defer c.close() // a clean-up would come too late in a bubble
		f(c)
	})
}

// start runs a server.
func start(tb testing.TB, cfg server.Config) *cluster {
	tb.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	if os.Getenv("REEVE_TEST_LOG") != "" {
		cfg.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	srv, err := server.New(cfg)
	if err != nil {
		tb.Fatalf("open the server: %v", err)
	}
	if err := srv.Start(tb.Context()); err != nil {
		tb.Fatalf("start the server: %v", err)
	}
	c := &cluster{TB: tb, Server: srv, cfg: cfg, nodes: map[string]*fakeNode{}}
	c.awaitRootKey()
	return c
}

// awaitRootKey waits for the first root key, which a leader of the newest feature level creates: a test counts
// its own writes.
func (c *cluster) awaitRootKey() {
	ctx, cancel := context.WithTimeout(c.Context(), 10*time.Second)
	defer cancel()
	for c.IsLeader() && ctx.Err() == nil {
		v := c.Store().Snapshot()
		if v.ActiveRootKey() != nil || v.Level() < state.Level {
			return
		}
		_, _ = c.Store().WaitChange(ctx, v.TableIndex(state.TableRootKeys), state.TableRootKeys)
	}
}

// close ends the nodes and the server.
func (c *cluster) close() {
	c.Helper()
	for _, n := range c.nodes {
		n.kill()
	}
	if err := c.Shutdown(context.Background()); err != nil {
		c.Errorf("shut down: %v", err)
	}
}

// pass lets a simulated cluster's time pass, and what happens then happen.
func (c *cluster) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// passDown stops the server and its nodes, lets time pass, and starts them again. A server
// that runs has timers of a second and less, which make months expensive. It needs a data
// directory.
func (c *cluster) passDown(d time.Duration) {
	c.Helper()
	c.close()
	c.pass(d)
	nodes := c.nodes
	*c = *start(c.TB, c.cfg)
	for _, n := range nodes {
		c.connect(n.node, n.run)
	}
}

// until waits for a condition of the state, at most ten minutes of the
// bubble's time.
func (c *cluster) until(what string, cond func(*state.Snapshot) bool) {
	c.Helper()
	c.within(10*time.Minute, what, cond)
}

func (c *cluster) within(limit time.Duration, what string, cond func(*state.Snapshot) bool) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), limit)
	defer cancel()
	for {
		snap := c.Store().Snapshot()
		if cond(snap) {
			return
		}
		if c.Store().Wait(ctx, snap.Index()+1) != nil {
			if cond(c.Store().Snapshot()) {
				return
			}
			c.Fatalf("waited %s for: %s\n%s", limit, what, describe(c.Store().Snapshot()))
		}
	}
}

// register registers a job.
func (c *cluster) register(job *api.Job) *api.RegisterJobResponse {
	c.Helper()
	res, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: job})
	if err != nil {
		c.Fatalf("register %s: %v", job.ID, err)
	}
	return res
}

// running returns the job's allocations that run.
func running(snap *state.Snapshot, job string) (allocs []*api.Allocation) {
	for a := range snap.AllocationsByJob("default", job) {
		if a.ClientStatus == api.AllocClientRunning && !a.IsServerTerminal() {
			allocs = append(allocs, a)
		}
	}
	return allocs
}

func deploymentStatus(snap *state.Snapshot, job string) string {
	if d := snap.LatestDeployment("default", job); d != nil {
		return d.Status
	}
	return ""
}

// describe prints what the state holds, for messages of failed tests.
func describe(snap *state.Snapshot) string {
	out := fmt.Sprintf("state %d\n", snap.Index())
	for j := range snap.Jobs() {
		out += fmt.Sprintf("job %s v%d %s stop=%t stable=%t\n", j.ID, j.Version, j.Status, j.Stop, j.Stable)
	}
	for s := range snap.Stacks("*") {
		out += fmt.Sprintf("stack %s %s (%s)\n", s.Name, s.Status, s.StatusText())
	}
	for n := range snap.Nodes() {
		out += fmt.Sprintf("node %s %s %s\n", n.ID, n.Status, n.SchedulingEligibility)
	}
	for d := range snap.Deployments() {
		out += fmt.Sprintf("deployment %s %s v%d %s (%s)\n", api.ShortID(d.ID), d.JobID, d.JobVersion, d.Status, d.StatusDescription)
		for name, g := range d.Groups {
			out += fmt.Sprintf("  %s desired %d placed %d healthy %d unhealthy %d\n", name, g.DesiredTotal, g.PlacedAllocs, g.HealthyAllocs, g.UnhealthyAllocs)
		}
	}
	for e := range snap.Evaluations() {
		out += fmt.Sprintf("evaluation %s %s %s %s (%s) queued %v, created at %d, of state %d, changed at %d\n",
			api.ShortID(e.ID), e.JobID, e.TriggeredBy, e.Status, e.StatusDescription, e.QueuedAllocations, e.CreateIndex, e.SnapshotIndex, e.ModifyIndex)
	}
	for a := range snap.Allocations() {
		out += fmt.Sprintf("allocation %s %s v%d on %s: %s, %s (%s), cpu %d, created at %d, changed at %d, by its node at %d\n",
			api.ShortID(a.ID), a.Name, a.JobVersion(), a.NodeID, a.DesiredStatus, a.ClientStatus, a.DesiredDescription, a.Usage().CPU, a.CreateIndex, a.AllocModifyIndex, a.ModifyIndex)
	}
	return out
}

// fakeNode speaks the protocol of an agent and pretends to run things.
type fakeNode struct {
	c    *cluster
	node *api.Node
	// run says how an allocation goes; nil: it runs, is healthy at once, and
	// a batch job's ends after a second.
	run func(*api.Allocation, *api.Job) []event

	cancel  context.CancelFunc
	running sync.WaitGroup

	mu        sync.Mutex
	jobs      map[string]*api.Job
	seen      map[string]string          // the deployment for which each allocation was watched last
	told      map[string]bool            // to stop
	now       map[string]*api.Allocation // with launches or goals: as last sent
	endsAfter time.Duration              // how long stopped instances take to end
}

// event is what a node reports of an allocation after a while.
type event struct {
	after   time.Duration
	status  string
	healthy *bool
	unready bool // of a stack: it takes no requests, although it is healthy
}

func healthy(ok bool) *bool { return &ok }

// addNode registers a node with room for ten of the jobs that serviceJob makes.
func (c *cluster) addNode(id string, run func(*api.Allocation, *api.Job) []event) *fakeNode {
	c.Helper()
	return c.connect(newNode(id), run)
}

func newNode(id string) *api.Node {
	return &api.Node{
		ID: id, Name: id, Datacenter: "dc1", NodePool: "default",
		Attributes: map[string]string{"kernel.name": "linux", "driver.mock_driver": "1", "driver.raw_exec": "1"},
		Drivers: map[string]*api.DriverStatus{
			"mock_driver": {Detected: true, Healthy: true}, "mock": {Detected: true, Healthy: true},
			"raw_exec": {Detected: true, Healthy: true},
		},
		Resources: &api.NodeResources{
			CPU: api.NodeCPU{CPUShares: 1000}, Memory: api.NodeMemory{MemoryMB: 10240}, Disk: api.NodeDisk{DiskMB: 102400},
			Networks: []*api.Network{{Mode: "host", Device: "lo", IP: "127.0.0.1"}},
		},
	}
}

// connect registers a node and has it follow its stream.
func (c *cluster) connect(node *api.Node, run func(*api.Allocation, *api.Job) []event) *fakeNode {
	c.Helper()
	n := &fakeNode{c: c, node: node, run: run, jobs: map[string]*api.Job{}, seen: map[string]string{}, told: map[string]bool{}, now: map[string]*api.Allocation{}}
	res, err := c.RegisterNode(c.Context(), node)
	if err != nil {
		c.Fatalf("register node %s: %v", node.ID, err)
	}
	ctx, cancel := context.WithCancel(c.Context())
	n.cancel = cancel
	n.running.Go(func() {
		_ = c.NodeStream(ctx, node.ID, api.Position{}, func(m *server.NodeMessage) error {
			if m == nil {
				return nil // a sign of life
			}
			n.receive(ctx, m.API())
			return nil
		})
	})
	n.running.Go(func() {
		tick := time.NewTicker(res.HeartbeatTTL / 2)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_, _ = c.Heartbeat(ctx, node.ID)
			}
		}
	})
	c.nodes[node.ID] = n
	return n
}

// kill makes the node fall silent.
func (n *fakeNode) kill() {
	n.cancel()
	n.running.Wait()
}

func (n *fakeNode) receive(ctx context.Context, m *api.NodeAllocations) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, j := range m.Jobs {
		n.jobs[fmt.Sprint(j.ID, j.Version)] = j
	}
	for _, a := range m.Allocations {
		watched, seen := n.seen[a.ID]
		switch {
		case a.IsClientTerminal():
		case a.DesiredStatus == api.AllocDesiredRun && !seen:
			n.seen[a.ID] = a.DeploymentID
			job := n.jobs[fmt.Sprint(a.JobID, a.JobVersion)]
			if job == nil {
				n.c.Errorf("node %s got allocation %s without its job", n.node.ID, a.ID)
				continue
			}
			n.launch(a.Allocation, job)
			played := a.Allocation.Copy()
			played.Job = job
			n.play(ctx, played, n.script(a.Allocation, job))
		case a.DesiredStatus == api.AllocDesiredRun && n.launch(a.Allocation, n.jobs[fmt.Sprint(a.JobID, a.JobVersion)]):
			n.play(ctx, a.Allocation, []event{{status: api.AllocClientRunning, healthy: healthy(true)}})
		case a.DesiredStatus == api.AllocDesiredRun && watched != a.DeploymentID:
			// It was updated in place: a deployment that does not know its health
			// has it watched anew.
			n.seen[a.ID] = a.DeploymentID
			if job := n.jobs[fmt.Sprint(a.JobID, a.JobVersion)]; n.run == nil && job != nil && !job.RunsToCompletion() && a.DeploymentID != "" && !a.IsHealthy() && !a.IsUnhealthy() {
				n.play(ctx, a.Allocation, []event{{status: api.AllocClientRunning, healthy: healthy(true)}})
			}
		case a.DesiredStatus != api.AllocDesiredRun && !n.told[a.ID]:
			n.told[a.ID] = true
			end := event{status: api.AllocClientComplete, after: n.endsAfter}
			if a.DesiredStatus == api.AllocDesiredEvict {
				end.after = 2 * time.Second // it takes its time, while another waits
			}
			n.play(ctx, a.Allocation, []event{end})
		}
	}
}

func (n *fakeNode) script(a *api.Allocation, job *api.Job) []event {
	switch {
	case n.run != nil:
		return n.run(a, job)
	case job.RunsToCompletion():
		return []event{{status: api.AllocClientRunning}, {after: time.Second, status: api.AllocClientComplete}}
	}
	return []event{{status: api.AllocClientRunning}, {status: api.AllocClientRunning, healthy: healthy(true)}}
}

// play reports the events in the background.
func (n *fakeNode) play(ctx context.Context, a *api.Allocation, events []event) {
	n.running.Go(func() {
		if a.DesiredStatus == api.AllocDesiredRun && !n.awaitPreempted(ctx, a) {
			return
		}
		ran := false
		for _, e := range events {
			select {
			case <-time.After(e.after):
			case <-ctx.Done():
				return
			}
			n.mu.Lock()
			told := n.told[a.ID]
			n.mu.Unlock()
			if told && e.status != api.AllocClientComplete {
				return
			}
			u := &api.Allocation{ID: a.ID, ClientStatus: e.status}
			if e.healthy != nil {
				u.DeploymentStatus = &api.AllocDeploymentStatus{Healthy: e.healthy, Timestamp: time.Now()}
			}
			if a.Job != nil && a.Job.Stack != nil && e.status == api.AllocClientRunning {
				routable := e.healthy != nil && *e.healthy && !e.unready
				u.Serving = &api.Serving{Up: true, Routable: routable}
			}
			n.tellTasks(u)
			if ran = ran || e.status == api.AllocClientRunning; ran && a.Job != nil && e.status == api.AllocClientFailed {
				tellFailed(u, a.Job, a.Group)
			}
			if _, err := n.c.UpdateAllocations(ctx, n.node.ID, []*api.Allocation{u}); err != nil && ctx.Err() == nil {
				n.c.Errorf("node %s reports %s: %v", n.node.ID, e.status, err)
			}
		}
	})
}

// awaitPreempted waits until nothing holds its room any more that the allocation
// preempted.
func (n *fakeNode) awaitPreempted(ctx context.Context, a *api.Allocation) bool {
	store := n.c.Store()
	for {
		snap := store.Snapshot()
		if !slices.ContainsFunc(a.PreemptedAllocations, func(id string) bool {
			p := snap.Allocation(id)
			return p != nil && p.HoldsResources()
		}) {
			return true
		}
		if store.Wait(ctx, snap.Index()+1) != nil {
			return false
		}
	}
}

func ptr[T any](v T) *T { return &v }

// serviceJob is a service with one group, web. A node of addNode has room for
// ten instances.
func serviceJob(id string, count int) *api.Job {
	return &api.Job{
		ID: id, Name: id, Type: api.JobTypeService, Datacenters: []string{"*"},
		Groups: []*api.Group{{
			Name: "web", Count: ptr(count),
			EphemeralDisk: &api.EphemeralDisk{SizeMB: ptr(150)},
			Update: &api.Update{
				MaxParallel: ptr(1), MinHealthyTime: ptr(time.Duration(0)), HealthCheck: ptr(api.HealthCheckTaskStates),
				HealthyDeadline: ptr(time.Minute), ProgressDeadline: ptr(2 * time.Minute),
			},
			Tasks: []*api.Task{{
				Name: "server", Driver: "mock_driver", Config: map[string]any{"run_for": "1h"},
				Resources: &api.Resources{CPU: ptr(100), MemoryMB: ptr(64)},
				Logs:      &api.Logs{MaxFiles: ptr(1), MaxFileSizeMB: ptr(1)},
			}},
		}},
	}
}

// batchJob is a batch job with one group, work.
func batchJob(id string, count int) *api.Job {
	job := serviceJob(id, count)
	job.Type = api.JobTypeBatch
	job.Groups[0].Name, job.Groups[0].Update = "work", nil
	return job
}

// changed returns the job with another command, so that its instances have to
// be replaced.
func changed(job *api.Job, to string) *api.Job {
	c := job.Copy()
	c.Groups[0].Tasks[0].Config = map[string]any{"run_for": "1h", "stdout_string": to}
	return c
}

// addBigNode registers a node with room for any benchmark, which only says
// what arrives on its stream.
func (c *cluster) addBigNode(tb testing.TB, arrived func(*api.Allocation)) *fakeNode {
	tb.Helper()
	id := fmt.Sprintf("big-%d", len(c.nodes))
	return c.connect(&api.Node{
		ID: id, Name: id, Datacenter: "dc1", NodePool: "default",
		Attributes: map[string]string{"kernel.name": "linux", "driver.mock_driver": "1"},
		Drivers:    map[string]*api.DriverStatus{"mock_driver": {Detected: true, Healthy: true}},
		Resources: &api.NodeResources{
			CPU:    api.NodeCPU{CPUShares: 1 << 40},
			Memory: api.NodeMemory{MemoryMB: 1 << 40}, Disk: api.NodeDisk{DiskMB: 1 << 40},
			Networks: []*api.Network{{Mode: "host", Device: "lo", IP: "127.0.0.1"}},
		},
	}, func(a *api.Allocation, _ *api.Job) []event {
		arrived(a)
		return nil
	})
}
