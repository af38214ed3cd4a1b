// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/drivertest"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

func TestMain(m *testing.M) {
	supervisetest.Main(m, func(m *testing.M) { goleak.VerifyTestMain(m) })
}

func TestIdentityStaysAcrossAgents(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		n := start()
		id := n.Node.Node()
		n.stop()
		again := start().Node.Node()
		want(t, "id", id.ID, again.ID)
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

// The servers may send a stop, and that its shutdown delay is skipped, as two changes with one index.
func TestAStopSkipsItsDelayWithTheIndexOfTheStop(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		start()
		j := jobOf("service", &api.Task{Name: "t", Driver: "fake"})
		yes, delay := true, time.Hour
		j.Groups[0].ShutdownDelay = &delay
		s.messages <- placed(j, true, "one")
		s.until(t, api.AllocClientRunning, 1)
		begun := time.Now()
		for _, skips := range []*bool{nil, &yes} {
			m := placed(j, false, "one")
			m.Jobs = nil
			a := m.Allocations[0]
			a.DesiredStatus, a.AllocModifyIndex, a.DesiredTransition.NoShutdownDelay = api.AllocDesiredStop, 2, skips
			s.messages <- m
			synctest.Wait()
		}
		s.until(t, api.AllocClientComplete, 1)
		if took := time.Since(begun); took >= delay {
			t.Errorf("the stop took %s", took)
		}
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
