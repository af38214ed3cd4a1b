// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/drivertest"
)

// fencedJob is a service that may not run for long without servers.
func fencedJob(after time.Duration) *api.Job {
	j := jobOf("service", &api.Task{Name: "t", Driver: "fake"})
	j.ID = "fenced"
	j.Groups[0].Disconnect = &api.Disconnect{StopOnClientAfter: &after}
	return j
}

func TestFenceStopsWhatMayNotRunWithoutServers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		start()
		s.messages <- placed(fencedJob(time.Minute), true, "fenced")
		s.messages <- placed(jobOf("service", &api.Task{Name: "t", Driver: "fake"}), false, "free")
		s.until(t, api.AllocClientRunning, 2)
		time.Sleep(time.Hour)
		synctest.Wait()
		want(t, "running while servers answer", 2, len(d.Running()))
		s.leave(true)
		time.Sleep(54 * time.Second) // the last heartbeat was up to 5s before
		synctest.Wait()
		want(t, "running before a minute is over", 2, len(d.Running()))
		time.Sleep(8 * time.Second)
		synctest.Wait()
		want(t, "running after a minute without servers", 1, len(d.Running()))
		s.leave(false)
		s.until(t, api.AllocClientLost, 1)
		if a := s.last("fenced"); a == nil || a.ClientStatus != api.AllocClientLost || !strings.Contains(a.ClientDescription, "no server answered for 1m0s") {
			t.Errorf("what was stopped is reported as %+v", a)
		}
		if a := s.last("free"); a.ClientStatus != api.AllocClientRunning {
			t.Errorf("what may run on is reported as %s", a.ClientStatus)
		}
	})
}

func TestFenceCountsFromTheLastAgentsContact(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		n := start()
		s.messages <- placed(fencedJob(time.Minute), true, "fenced")
		s.until(t, api.AllocClientRunning, 1)
		time.Sleep(10 * time.Second)
		s.leave(true)
		n.stop()
		time.Sleep(30 * time.Second)
		n = start()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		want(t, "running 55s after the last contact", 1, len(d.Running()))
		time.Sleep(12 * time.Second)
		synctest.Wait()
		want(t, "running more than a minute after it", 0, len(d.Running()))
		n.stop()
		start()
		s.leave(false)
		s.until(t, api.AllocClientLost, 1)
	})
}

// The servers were away for longer than anything may run without them. What they
// place when they are back is not stopped before its time because of that.
func TestFenceSparesWhatServersPlaceOnTheirReturn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		start()
		s.messages <- placed(fencedJob(5*time.Second), true, "old")
		s.until(t, api.AllocClientRunning, 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		want(t, "running while servers answer", 1, len(d.Running()))
		s.leave(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		want(t, "running after a minute without servers", 0, len(d.Running()))
		s.messages <- placed(fencedJob(5*time.Second), false, "fresh") // the stream is quicker than the heartbeats
		time.Sleep(3 * time.Second)
		synctest.Wait()
		want(t, "running before its own time is over", 1, len(d.Running()))
		s.leave(false)
		time.Sleep(time.Hour)
		synctest.Wait()
		want(t, "running after the servers' return", 1, len(d.Running()))
		if a := s.last("fresh"); a == nil || a.ClientStatus != api.AllocClientRunning {
			t.Errorf("what was placed after it is reported as %+v", a)
		}
	})
}

func TestFenceHoldsForWhatIsPlacedWhileHeartbeatsGoUnanswered(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		start()
		s.messages <- placed(jobOf("service", &api.Task{Name: "t", Driver: "fake"}), true, "free")
		s.until(t, api.AllocClientRunning, 1)
		s.leave(true)
		time.Sleep(time.Minute)
		s.messages <- placed(fencedJob(5*time.Second), false, "fresh")
		time.Sleep(4 * time.Second)
		synctest.Wait()
		want(t, "running", 2, len(d.Running()))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		want(t, "running after its time", 1, len(d.Running()))
	})
}

// What may run for a shorter time without servers than heartbeats are apart has
// them sent more often.
func TestFenceShorterThanTheHeartbeatsStopsNothingWhileServersAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		start()
		time.Sleep(4 * time.Second)
		s.messages <- placed(fencedJob(2*time.Second), true, "short")
		s.until(t, api.AllocClientRunning, 1)
		time.Sleep(time.Hour)
		synctest.Wait()
		want(t, "running while servers answer", 1, len(d.Running()))
		s.leave(true)
		time.Sleep(4 * time.Second)
		synctest.Wait()
		want(t, "running without servers", 0, len(d.Running()))
	})
}

// The contact that is on record from the last time that anything was fenced says
// nothing about what came long after it.
func TestFenceOfANewAgentDoesNotCountFromAnEarlierJobsContact(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		n := start()
		s.messages <- placed(fencedJob(time.Minute), true, "first")
		s.until(t, api.AllocClientRunning, 1)
		time.Sleep(10 * time.Second)
		s.messages <- placed(fencedJob(time.Minute), true)
		time.Sleep(time.Hour)
		s.messages <- placed(fencedJob(time.Minute), true, "second")
		d.Wait(2)
		synctest.Wait()
		n.stop()
		s.leave(true)
		start()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		want(t, "running", 1, len(d.Running()))
	})
}

func TestMachineThatWasSuspendedIsFencedWhenItWakes(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		n := start()
		s.messages <- placed(fencedJob(time.Minute), true, "fenced")
		s.until(t, api.AllocClientRunning, 1)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		n.mu.Lock()
		n.contact.Add(-int64(2 * time.Minute)) // that much of the uptime went by while nothing ran
		n.arrivals["fenced"] -= 2 * time.Minute
		n.mu.Unlock()
		s.leave(true)
		time.Sleep(fenceInterval)
		synctest.Wait()
		want(t, "running", 0, len(d.Running()))
	})
}

func TestReplacementIsJudgedByItsMigrateBlock(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		start()
		m := placed(jobOf("service", &api.Task{Name: "t", Driver: "fake"}), true, "first", "second")
		m.Allocations[1].PreviousAllocation = "elsewhere"
		s.messages <- m
		s.until(t, api.AllocClientRunning, 2)
		time.Sleep(9 * time.Second)
		synctest.Wait()
		if a := s.last("second"); a.DeploymentStatus != nil {
			t.Errorf("judged before min_healthy_time: %+v", a.DeploymentStatus)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if a := s.last("second"); !a.IsHealthy() {
			t.Errorf("after min_healthy_time its health is %+v, want it healthy", a.DeploymentStatus)
		}
		if a := s.last("first"); a.DeploymentStatus != nil {
			t.Errorf("what replaces nothing is judged: %+v", a.DeploymentStatus)
		}
	})
}

func TestNodeThatWasAwayReportsEverythingAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		start()
		s.messages <- placed(jobOf("service", &api.Task{Name: "t", Driver: "fake"}), true, "one")
		s.until(t, api.AllocClientRunning, 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		s.mu.Lock()
		before := len(s.reports)
		s.mu.Unlock()
		s.leave(true)
		time.Sleep(time.Minute)
		s.leave(false)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.reports) != before+1 {
			t.Errorf("%d reports after the node was away, want one of everything", len(s.reports)-before)
		}
	})
}
