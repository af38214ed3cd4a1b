// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/drivertest"
)

// placedAgain is what the servers say of allocations that they know as the node
// reported them last.
func placedAgain(s *fakeServers, j *api.Job, ids ...string) *api.NodeAllocations {
	m := placed(j, true, ids...)
	for _, a := range m.Allocations {
		told := s.last(a.ID)
		a.ClientStatus, a.TaskStates, a.Serving, a.Crashes = told.ClientStatus, told.TaskStates, told.Serving, told.Crashes
	}
	return m
}

// lose removes files of the node's data directory.
func lose(t *testing.T, n *running, files ...string) {
	t.Helper()
	for _, name := range files {
		if err := os.Remove(filepath.Join(n.config.DataDir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNodeThatLostItsLedgerAdoptsWhatItsServersKnow(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		j := jobOf("service", &api.Task{Name: "before", Driver: "fake", Lifecycle: &api.Lifecycle{Hook: "prestart"}}, &api.Task{Name: "t", Driver: "fake"})
		j.Groups[0].Services = []*api.Service{{Name: "web", PortLabel: "1", Checks: []*api.Check{{Name: "up", Type: api.CheckScript, Command: "true", Interval: time.Hour, Timeout: time.Second, TaskName: "t"}}}}
		j.Canonicalize()
		d.Script(func([]string) int { return 0 })
		n := start()
		s.messages <- placed(j, true, "one", "two", "gone")
		for range 3 {
			for d.Process("before") == nil {
				time.Sleep(time.Millisecond)
			}
			d.Process("before").Exit(0)
			time.Sleep(time.Second)
			synctest.Wait()
		}
		s.until(t, api.AllocClientRunning, 3)
		time.Sleep(10 * time.Second)
		id, started := n.Node.Node().ID, len(d.Started())
		n.stop()
		lose(t, n, "node.db")

		n = start()
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, "the node's id", id, n.Node.Node().ID)
		want(t, "before the servers have answered, processes", 3, len(d.Running()))
		s.messages <- placedAgain(s, j, "one", "two")
		time.Sleep(20 * time.Second)
		synctest.Wait()
		want(t, "processes that were started", started, len(d.Started()))
		want(t, "processes that run", 2, len(d.Running()))
		for _, id := range []string{"one", "two"} {
			a := s.last(id)
			want(t, id, api.AllocClientRunning, a.ClientStatus)
			if a.Serving == nil || !a.Serving.Routable {
				t.Errorf("%s serves as %+v", id, a.Serving)
			}
			if before := a.TaskStates["before"]; before.State != api.TaskStateDead || before.Failed {
				t.Errorf("%s: what came before it is %+v", id, before)
			}
			if _, err := os.Stat(n.dirs.Root(id)); err != nil {
				t.Errorf("the directory of %s: %v", id, err)
			}
		}
		if _, err := os.Stat(n.dirs.Root("gone")); err == nil {
			t.Error("the directory of what the servers do not know is still there")
		}

		// It is on record now, and ends when it should.
		n.stop()
		start()
		m := placedAgain(s, j, "one", "two")
		m.Allocations[1].DesiredStatus, m.Allocations[1].AllocModifyIndex = api.AllocDesiredStop, 7
		s.messages <- m
		s.until(t, api.AllocClientComplete, 1)
		want(t, "processes that run", 1, len(d.Running()))
		want(t, "processes that were started", started, len(d.Started()))
	})
}

func TestWhatWasToStopWhileTheLedgerWasLostIsStopped(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		n := start()
		s.messages <- placed(service(), true, "one", "two")
		s.until(t, api.AllocClientRunning, 2)
		n.stop()
		time.Sleep(time.Second) // what it tells is newer than what it told before
		lose(t, n, "node.db")
		start()
		m := placedAgain(s, service(), "one", "two")
		m.Allocations[0].DesiredStatus = api.AllocDesiredStop
		m.Allocations[1].ClientStatus, m.Allocations[1].DesiredStatus = api.AllocClientLost, api.AllocDesiredStop
		s.messages <- m
		s.until(t, api.AllocClientComplete, 1)
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, "processes that run", 0, len(d.Running()))
	})
}

func TestOlderCopyOfTheLedgerStartsNothingTwice(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		n := start()
		s.messages <- placed(service(), true, "one")
		s.until(t, api.AllocClientRunning, 1)
		n.stop()
		path := filepath.Join(n.config.DataDir, "node.db")
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		n = start()
		d.Process("t").Exit(1)
		d.Wait(2)
		s.messages <- placed(service(), false, "two")
		s.until(t, api.AllocClientRunning, 2)
		time.Sleep(time.Second)
		n.stop()
		if err := os.WriteFile(path, old, 0o600); err != nil {
			t.Fatal(err)
		}
		start()
		s.messages <- placedAgain(s, service(), "one", "two")
		time.Sleep(time.Minute)
		synctest.Wait()
		want(t, "processes that were started", 3, len(d.Started()))
		want(t, "processes that run", 2, len(d.Running()))
	})
}

func TestNodeThatLostItsIdentityEndsWhatRanUnderIt(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		n := start()
		s.messages <- placed(service(), true, "one")
		s.until(t, api.AllocClientRunning, 1)
		id := n.Node.Node().ID
		n.stop()
		lose(t, n, "node.db", identityFile)
		n = start()
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, "processes that run", 0, len(d.Running()))
		if n.Node.Node().ID == id {
			t.Error("the node has the identity that it lost")
		}
		s.messages <- placed(service(), true, "two")
		s.until(t, api.AllocClientRunning, 2)
	})
}

func TestTasksThatOtherServersDoNotKnowGoOn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *fakeServers, d *drivertest.Driver, start func() *running) {
		s.cluster = "old"
		n := start()
		s.messages <- ofCluster("old", 500, placed(service(), true, "one"))
		s.until(t, api.AllocClientRunning, 1)
		time.Sleep(time.Second)
		n.stop()
		lose(t, n, "node.db")
		s.begin("new")
		n = start()
		s.messages <- ofCluster("new", 7, &api.NodeAllocations{})
		time.Sleep(time.Minute)
		synctest.Wait()
		want(t, "processes that run", 1, len(d.Running()))
		if _, err := os.Stat(n.dirs.Root("one")); err != nil {
			t.Errorf("its directory: %v", err)
		}
	})
}

func TestUnreadableIdentityIsAClearError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, identityFile)
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := New(Config{DataDir: dir, Servers: newServers()})
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "restore it from a backup") {
		t.Errorf("the error is %v", err)
	}
}
