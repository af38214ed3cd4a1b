// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/mock"
	"github.com/reeve-run/reeve/internal/node/drivertest"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

func TestMain(m *testing.M) {
	supervisetest.Main(m, func(m *testing.M) { goleak.VerifyTestMain(m) })
}

// fakeServers remember what a node says, and tell it what the test wants.
type fakeServers struct {
	mu         sync.Mutex
	registered int
	heartbeats int
	reports    [][]*api.Allocation
	latest     map[string]*api.Allocation
	changed    chan struct{}
	fail       error // of reports
	forgotten  bool  // heartbeats are answered with CodeNotFound
	away       bool  // nothing is answered
	slow       time.Duration
	messages   chan *api.NodeAllocations
	cluster    string // whose they are
	offered    map[string]*api.OfferedOrphan
	deaf       bool         // offers are not answered
	from       string       // the cluster that the node said last it comes from
	told       api.Position // that the node said last it was told up to
}

var errAway = api.Errorf(api.CodeUnavailable, "no server answers")

// leave makes the servers unreachable, or reachable again.
func (s *fakeServers) leave(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

func newServers() *fakeServers {
	return &fakeServers{latest: map[string]*api.Allocation{}, changed: make(chan struct{}), messages: make(chan *api.NodeAllocations, 16)}
}

func (s *fakeServers) Register(_ context.Context, n *api.Node) (*api.NodeHeartbeatResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return nil, errAway
	}
	s.registered++
	s.forgotten, s.from = false, n.LastCluster
	answer := &api.NodeHeartbeatResponse{HeartbeatTTL: 15 * time.Second, Status: api.NodeStatusReady, ClusterID: s.cluster}
	if n.LastCluster != "" && n.LastCluster != s.cluster {
		answer.Status = api.NodeStatusInit
	}
	return answer, nil
}

func (s *fakeServers) Heartbeat(context.Context, string, string) (*api.NodeHeartbeatResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return nil, errAway
	}
	s.heartbeats++
	if s.forgotten {
		return nil, api.Errorf(api.CodeNotFound, "node not found")
	}
	return &api.NodeHeartbeatResponse{HeartbeatTTL: 15 * time.Second, Status: api.NodeStatusReady}, nil
}

func (s *fakeServers) Stream(ctx context.Context, _, _ string, told api.Position, receive func(*api.NodeAllocations) error) error {
	s.mu.Lock()
	s.told = told
	s.mu.Unlock()
	for {
		select {
		case m := <-s.messages:
			if m == nil {
				return errors.New("the stream broke")
			}
			if err := receive(m); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *fakeServers) OfferOrphans(_ context.Context, _, _ string, orphans []*api.OfferedOrphan) (map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away || s.deaf {
		return nil, errAway
	}
	if s.offered == nil {
		s.offered = map[string]*api.OfferedOrphan{}
	}
	for _, o := range orphans {
		s.offered[o.Allocation.ID] = o
	}
	return nil, nil
}

// begin has the servers know nothing any more.
func (s *fakeServers) begin(cluster string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cluster, s.forgotten, s.offered = cluster, true, nil
}

func (s *fakeServers) UpdateAllocations(ctx context.Context, _, _ string, allocs []*api.Allocation) error {
	s.mu.Lock()
	slow, fail := s.slow, s.fail
	if s.away {
		fail = errAway
	}
	s.mu.Unlock()
	if slow > 0 && !sleep(ctx, slow) {
		return ctx.Err()
	}
	if fail != nil {
		return fail
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reports = append(s.reports, allocs)
	for _, a := range allocs {
		if old := s.latest[a.ID]; old != nil && old.ModifyTime > a.ModifyTime {
			panic(fmt.Sprintf("an older state of %s came after a newer one", a.ID))
		}
		s.latest[a.ID] = a
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// until waits until so many allocations have that status.
func (s *fakeServers) until(t testing.TB, status string, count int) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		s.mu.Lock()
		have := 0
		for _, a := range s.latest {
			if a.ClientStatus == status {
				have++
			}
		}
		changed := s.changed
		s.mu.Unlock()
		if have >= count {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("%d allocations are %s; want %d", have, status, count)
		}
	}
}

func (s *fakeServers) last(id string) *api.Allocation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest[id]
}

// jobOf makes a job with one group of the tasks.
func jobOf(kind string, tasks ...*api.Task) *api.Job {
	j := &api.Job{ID: "web", Name: "web", Type: kind, Groups: []*api.Group{{Name: "g", Tasks: tasks}}}
	j.Canonicalize()
	return j
}

// placed makes a message that places instances of a job.
func placed(j *api.Job, complete bool, ids ...string) *api.NodeAllocations {
	m := &api.NodeAllocations{Complete: complete, Jobs: []*api.Job{j}}
	for i, id := range ids {
		m.Allocations = append(m.Allocations, &api.NodeAllocation{JobVersion: j.Version, Allocation: &api.Allocation{
			ID: id, Namespace: j.Namespace, JobID: j.ID, Group: "g", Name: api.AllocName(j.ID, "g", i), AllocModifyIndex: 1,
			DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending,
		}})
	}
	return m
}

// running is a node that runs until stop is called.
type running struct {
	*Node
	stop func()
}

func run(t testing.TB, dir string, s Servers, drivers map[string]driver.Driver) *running {
	t.Helper()
	var keeper Keeper
	for _, d := range drivers {
		if k, ok := d.(Keeper); ok {
			keeper = k
		}
	}
	n, err := New(Config{DataDir: dir, Name: "n1", Servers: s, Drivers: drivers, Keeper: keeper, Address: "127.0.0.1",
		Uptime: func() time.Duration { return time.Duration(time.Now().UnixNano()) }, // a bubble's time
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	var once sync.Once
	return &running{Node: n, stop: func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}}
}

// inBubble runs a test with virtual time against a fake driver.
func inBubble(t *testing.T, do func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running)) {
	t.Helper()
	dir := t.TempDir()
	bubble.Test(t, func(t *testing.T) {
		s, d := newServers(), drivertest.New()
		var all []*running
		do(t, s, d, func() *running {
			r := run(t, dir, s, map[string]driver.Driver{"fake": d})
			all = append(all, r)
			return r
		})
		for _, r := range all {
			r.stop()
		}
		synctest.Wait()
	})
}

func want(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func TestIdentityStaysAcrossAgents(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		n := start()
		id := n.Node.Node()
		n.stop()
		again := start().Node.Node()
		want(t, "id", id.ID, again.ID)
		want(t, "secret", id.SecretID, again.SecretID)
		want(t, "class", id.ComputedClass, again.ComputedClass)
	})
}

func TestHeartbeatsAndRegistersAgainWhenForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		start()
		time.Sleep(time.Minute)
		synctest.Wait()
		s.mu.Lock()
		if s.registered != 1 || s.heartbeats < 11 || s.heartbeats > 13 {
			t.Errorf("registered %d times, %d heartbeats in a minute of TTL 15s; want 1 and 12", s.registered, s.heartbeats)
		}
		s.forgotten = true
		s.mu.Unlock()
		time.Sleep(6 * time.Second)
		synctest.Wait()
		s.mu.Lock()
		want(t, "registered", 2, s.registered)
		s.mu.Unlock()
	})
}

func TestReportsAreBatchedWhileOneIsUnderWay(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		s.slow = time.Second
		start()
		var ids []string
		for i := range 100 {
			ids = append(ids, fmt.Sprintf("alloc-%d", i))
		}
		s.messages <- placed(jobOf("service", &api.Task{Name: "t", Driver: "fake"}), true, ids...)
		s.until(t, api.AllocClientRunning, 100)
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.reports) > 4 {
			t.Errorf("%d requests for 100 allocations; want few", len(s.reports))
		}
	})
}

func TestReportsAreRetriedUntilAcknowledged(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		s.fail = errors.New("no leader")
		start()
		s.messages <- placed(jobOf("batch", &api.Task{Name: "t", Driver: "fake"}), true, "one")
		d.Wait(1).Exit(0)
		time.Sleep(time.Minute)
		s.mu.Lock()
		s.fail = nil
		s.mu.Unlock()
		s.until(t, api.AllocClientComplete, 1)
	})
}

func TestAllocationsUnknownToTheServersAreStoppedAndRemoved(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		n := start()
		j := jobOf("service", &api.Task{Name: "t", Driver: "fake"})
		s.messages <- placed(j, true, "one", "two")
		d.Wait(2)
		synctest.Wait()
		s.messages <- nil // the stream breaks; the next one begins with everything
		s.messages <- placed(j, true, "two")
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, "running", 1, len(d.Running()))
		if _, err := n.runner("one"); err == nil {
			t.Error("the allocation that the servers do not know is still there")
		}
		names, err := n.dirs.List()
		if err != nil {
			t.Fatal(err)
		}
		want(t, "directories", []string{"two"}, names)
	})
}

func TestChecksBeginWithTheirTask(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		n := start()
		s.messages <- placed(jobOf("service", &api.Task{Name: "t", Driver: "fake", Services: []*api.Service{{
			Name: "s", Checks: []*api.Check{{Name: "ok", Type: api.CheckScript, Command: "true", Interval: time.Minute}},
		}}}), true, "one")
		s.until(t, api.AllocClientRunning, 1)
		synctest.Wait()
		var statuses []string
		for _, c := range n.checks.Statuses("one") {
			statuses = append(statuses, c.Check+" of "+c.Service+": "+c.Status+", "+c.Output)
		}
		want(t, "checks", []string{"ok of s: success, true"}, statuses)
	})
}

func TestAllocationsThatTheServersRemovedAreRemoved(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		n := start()
		s.messages <- placed(jobOf("batch", &api.Task{Name: "t", Driver: "fake"}), true, "one", "two")
		s.until(t, api.AllocClientRunning, 2)
		s.messages <- &api.NodeAllocations{Removed: []string{"two", "never-seen"}}
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, "running", 1, len(d.Running()))
		n.stop()
		again := start()
		synctest.Wait()
		again.mu.Lock()
		defer again.mu.Unlock()
		want(t, "after a restart", 1, len(again.runners))
	})
}

func TestStoppedAllocationThatNeverArrivedIsAnswered(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		start()
		m := placed(jobOf("service", &api.Task{Name: "t", Driver: "fake"}), true, "one")
		m.Allocations[0].DesiredStatus = api.AllocDesiredStop
		s.messages <- m
		s.until(t, api.AllocClientComplete, 1)
		want(t, "started", 0, len(d.Started()))
	})
}

func TestStopOverTheStream(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		start()
		j := jobOf("service", &api.Task{Name: "t", Driver: "fake"})
		s.messages <- placed(j, true, "one")
		s.until(t, api.AllocClientRunning, 1)
		m := placed(j, false, "one")
		m.Jobs = nil
		m.Allocations[0].DesiredStatus, m.Allocations[0].AllocModifyIndex = api.AllocDesiredStop, 2
		s.messages <- m
		s.until(t, api.AllocClientComplete, 1)
	})
}

func TestReplacementWaitsForWhatItReplaces(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		start()
		j := jobOf("service", &api.Task{Name: "t", Driver: "fake"})
		s.messages <- placed(j, true, "one")
		d.Wait(1).IgnoreSignals()
		m := placed(j, false, "one", "two")
		m.Allocations[0].DesiredStatus, m.Allocations[0].AllocModifyIndex = api.AllocDesiredStop, 2
		m.Allocations[1].PreviousAllocation = "one"
		begun := time.Now()
		s.messages <- m
		d.Wait(2)
		want(t, "time", 5*time.Second, time.Since(begun))
	})
}

// TestAPreemptingAllocationWaits places an allocation on the room of two others,
// and changes it while it waits.
func TestAPreemptingAllocationWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		n := start()
		j := jobOf("service", &api.Task{Name: "t", Driver: "fake"})
		s.messages <- placed(j, true, "low", "lower")
		d.Wait(2)
		for _, p := range d.Started() {
			p.IgnoreSignals()
		}
		j2 := jobOf("service", &api.Task{Name: "t", Driver: "fake"})
		j2.ID = "urgent"
		m := placed(j2, false, "high")
		m.Allocations[0].PreemptedAllocations = []string{"low", "lower", "long gone"}
		evicted := placed(j, false, "low", "lower")
		for _, a := range evicted.Allocations {
			a.DesiredStatus, a.AllocModifyIndex, a.PreemptedByAllocation = api.AllocDesiredEvict, 2, "high"
		}
		m.Jobs, m.Allocations = append(m.Jobs, j), append(m.Allocations, evicted.Allocations...)
		begun := time.Now()
		s.messages <- m
		synctest.Wait()
		want(t, "what it says while it waits", "Waits for the end of what it takes over from, on the same node", s.last("high").ClientDescription)

		again := placed(j2, false, "high")
		again.Allocations[0].PreemptedAllocations, again.Allocations[0].AllocModifyIndex = []string{"low", "lower", "long gone"}, 3
		s.messages <- again
		synctest.Wait()
		want(t, "started before the others ended", 2, len(d.Started()))

		// An agent that is started anew waits again.
		n.stop()
		start()
		again.Complete = true
		again.Jobs, again.Allocations = append(again.Jobs, j), append(again.Allocations, evicted.Allocations...)
		s.messages <- again
		synctest.Wait()
		want(t, "started before the others ended", 2, len(d.Started()))
		d.Wait(3)
		if waited := time.Since(begun); waited < 5*time.Second {
			t.Errorf("it started after %s; the others take 5s to end", waited)
		}
	})
}

func TestTasksGoOnWithoutTheAgent(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		n := start()
		j := jobOf("batch", &api.Task{Name: "t", Driver: "fake"})
		s.messages <- placed(j, true, "one", "two")
		s.until(t, api.AllocClientRunning, 2)
		n.stop()
		want(t, "running", 2, len(d.Running()))
		for _, p := range d.Started() {
			if p.Task.AllocID == "one" {
				p.Exit(0)
			}
		}
		start()
		s.until(t, api.AllocClientComplete, 1)
		synctest.Wait()
		want(t, "started", 2, len(d.Started()))
		want(t, "two", api.AllocClientRunning, s.last("two").ClientStatus)
	})
}

func TestOnlyTheNewestEndedAllocationsAreKept(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		n := start()
		n.config.KeepEnded = 3
		j := jobOf("batch", &api.Task{Name: "t", Driver: "fake"})
		for i := range 5 {
			s.messages <- placed(j, false, fmt.Sprintf("alloc-%d", i))
			d.Wait(i + 1).Exit(0)
			s.until(t, api.AllocClientComplete, i+1)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		names, err := n.dirs.List()
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		want(t, "directories", []string{"alloc-2", "alloc-3", "alloc-4"}, names)
	})
}

func TestSecondAgentOnOneDirectoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	n := run(t, dir, newServers(), nil)
	defer n.stop()
	_, err := New(Config{DataDir: dir, Servers: newServers()})
	if err == nil {
		t.Fatal("a second node could use the directory")
	}
	want(t, "error", dir+"/node.db is in use by another agent: stop it, or give this one another data directory", err.Error())
}

// BenchmarkThousandTasks places 1,000 instances at once and waits until all
// are reported running; it prints the heap that they take.
func BenchmarkThousandTasks(b *testing.B) {
	for b.Loop() {
		s := newServers()
		n := run(b, b.TempDir(), s, map[string]driver.Driver{"mock_driver": mock.New()})
		j := jobOf("service", &api.Task{Name: "t", Driver: "mock_driver", Config: map[string]any{"run_for": "1h"}})
		var ids []string
		for range 1000 {
			ids = append(ids, api.NewID())
		}
		before := memory()
		begun := time.Now()
		s.messages <- placed(j, true, ids...)
		s.until(b, api.AllocClientRunning, 1000)
		b.ReportMetric(float64(time.Since(begun).Milliseconds()), "ms/1000")
		b.ReportMetric(float64(memory()-before)/1000, "B/task")
		b.StopTimer()
		n.StopAll(b.Context())
		n.stop()
		b.StartTimer()
	}
}

func memory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// BenchmarkArrivalToStart places one instance at a time and measures until the
// driver is asked to start it, with its directories and its record made.
func BenchmarkArrivalToStart(b *testing.B) {
	s, d := newServers(), drivertest.New()
	n := run(b, b.TempDir(), s, map[string]driver.Driver{"fake": d})
	defer n.stop()
	j := jobOf("batch", &api.Task{Name: "t", Driver: "fake"})
	for i := 1; b.Loop(); i++ {
		s.messages <- placed(j, false, api.NewID())
		d.Wait(i).Exit(0)
	}
}
