// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// held waits until the places of a job that something holds, orphans with a
// star, are these.
func (m *machine) held(job, when string, want ...string) {
	m.t.Helper()
	m.eventually(when, func(ctx context.Context) error {
		list, _, err := m.Client.Instances().All(ctx, client.InstancesFilter{Job: job, State: api.InstanceRunning}, nil)
		if err != nil {
			return err
		}
		var got []string
		for _, i := range list {
			index := strconv.Itoa(i.Index)
			if i.Orphan {
				index += "*"
			}
			got = append(got, index)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			return fmt.Errorf("held are %v, want %v", got, want)
		}
		return nil
	})
}

// forget ends the server, deletes what it knows, does something, and starts it
// again.
func (m *machine) forget(meanwhile func()) {
	m.t.Helper()
	m.Kill()
	if err := os.RemoveAll(filepath.Join(m.Dir, "server")); err != nil {
		m.t.Fatal(err)
	}
	meanwhile()
	m.start()
	m.waitReady()
}

// onTheirOwn is a job whose instances are neither restarted nor replaced when
// they end.
func onTheirOwn(id string, count int, script string) *api.Job {
	j := testbed.ShellJob(id, count, script)
	j.Groups[0].Restart = &api.Restart{Attempts: ptr(0), Mode: ptr("fail")}
	j.Groups[0].Reschedule = &api.Reschedule{Attempts: ptr(0), Interval: ptr(time.Duration(0)), Unlimited: ptr(false)}
	return j
}

// fresh are the names of the domains that are fresh.
func (m *machine) fresh() (names []string) {
	m.t.Helper()
	list, _, err := m.Client.Domains().List(m.t.Context(), nil)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, d := range list {
		names = append(names, `"`+d.Name+`"`)
	}
	return names
}

func (m *machine) mark(domain, ttl string) {
	m.t.Helper()
	if _, err := m.Client.Domains().Mark(m.t.Context(), domain, &api.DomainRequest{TTL: ttl}); err != nil {
		m.t.Fatal(err)
	}
}

// passes waits until a pass of convergence has been over everything: passes are
// half a minute apart.
func (m *machine) passes(check func()) {
	m.t.Helper()
	for end := wait.Limit(m.t, 35*time.Second); !isClosed(end); {
		check()
		wait.Pass(m.t.Context(), time.Second)
	}
}

// TestAStaleDomainLosesNothing has orphans {0..7} of which {1..6} have died
// while nobody knew of them, and a job of two. In its stale domain the hole is
// filled, and the surplus and what is of no job go on; in the fresh one they stop.
func TestAStaleDomainLosesNothing(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.register(onTheirOwn("web", 8, `echo $$ > "$NOMAD_ALLOC_DIR/pid"; exec sleep 86421`))
	m.register(onTheirOwn("other", 1, "exec sleep 86422"))
	m.allocations("other", "runs", running(1))
	victims := map[string]int{}
	for _, a := range m.allocations("web", "runs", running(8)) {
		if !strings.HasSuffix(a.Name, "[0]") && !strings.HasSuffix(a.Name, "[7]") {
			victims[a.Name] = m.pidOf(a.ID)
		}
	}
	m.forget(func() {
		for name, pid := range victims {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	m.held("web", "those that live are orphans", "0*", "7*")
	m.held("other", "it is an orphan", "0*")

	m.register(onTheirOwn("web", 2, `echo $$ > "$NOMAD_ALLOC_DIR/pid"; exec sleep 86421`))
	m.held("web", "the hole is filled, and what is too many goes on", "0", "1", "7*")
	m.passes(func() { m.held("web", "over a pass", "0", "1", "7*") })
	m.held("other", "what is of no job goes on", "0*")

	// What is missing comes back although the domain is stale ...
	if _, err := m.Client.Instances().Kill(t.Context(), "web", "main-1"); err != nil {
		t.Fatal(err)
	}
	m.allocations("web", "the killed one is replaced", func(list []*api.AllocationListStub) bool {
		return slices.ContainsFunc(list, func(a *api.AllocationListStub) bool {
			return strings.HasSuffix(a.Name, "[1]") && a.ClientStatus == api.AllocClientComplete
		}) && running(3)(list)
	})
	m.held("web", "the killed one is back", "0", "1", "7*")
	// ... and what somebody stops ends.
	if _, err := m.Client.Jobs().Scale(t.Context(), "web", &api.ScaleJobRequest{Count: ptr(int64(1)), Target: map[string]string{"Group": "main"}}); err != nil {
		t.Fatal(err)
	}
	m.held("web", "scaled down", "0", "7*")

	m.mark("", "1m")
	m.held("web", "fresh", "0")
	m.held("other", "fresh")
	m.eventually("the processes have ended", func(context.Context) error {
		if n := len(m.pidsOf("sleep", "8642")); n != 1 {
			return fmt.Errorf("%d run", n)
		}
		return nil
	})
}

// pidOf is the process that an allocation wrote the number of.
func (m *machine) pidOf(alloc string) (pid int) {
	m.t.Helper()
	m.eventually("the pid of "+alloc, func(context.Context) error {
		text, err := os.ReadFile(filepath.Join(m.Dir, "node", "alloc", alloc, "alloc", "pid"))
		if err != nil {
			return err
		}
		_, err = fmt.Sscan(string(text), &pid)
		return err
	})
	return pid
}

// TestStoppingAnOrphanIsExplicit stops orphans by themselves and with their job,
// in a stale domain.
func TestStoppingAnOrphanIsExplicit(t *testing.T) {
	m := newMachine(t)
	job := func() *api.Job {
		j := testbed.ShellJob("web", 2, "exec sleep 86431")
		j.Domain = "cf"
		return j
	}
	m.register(job())
	m.allocations("web", "runs", running(2))
	m.mark("cf", "")
	m.forget(func() {})
	m.held("web", "orphans", "0*", "1*")
	shown := m.reeve("operator", "orphans")
	for _, part := range []string{"web.main[0]", "web.main[1]", `"cf"`, "none: its domain is stale"} {
		if !strings.Contains(shown, part) {
			t.Errorf("%q is not shown:\n%s", part, shown)
		}
	}
	for _, a := range m.allocations("web", "orphans", running(2)) {
		if strings.HasSuffix(a.Name, "[1]") {
			if _, err := m.Client.Allocations().Stop(t.Context(), a.ID, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	m.held("web", "one is stopped", "0*")
	m.register(job())
	m.held("web", "one is taken over, and one is new", "0", "1")
	if _, err := m.Client.Jobs().Deregister(t.Context(), "web", client.DeregisterOptions{}); err != nil {
		t.Fatal(err)
	}
	m.held("web", "the job is stopped")
	if got := m.fresh(); !slices.Equal(got, []string{`""`}) {
		t.Errorf("fresh are %v; the orphans were of another domain", got)
	}
}

// TestFreshnessPassesAndSurvives marks domains for a time and for ever, over a
// crash of the server.
func TestFreshnessPassesAndSurvives(t *testing.T) {
	m := newMachine(t)
	is := func(when string, want ...string) {
		t.Helper()
		if got := m.fresh(); !slices.Equal(got, want) {
			t.Fatalf("%s: fresh are %v, want %v", when, got, want)
		}
	}
	is("at first", `""`)
	m.mark("ever", "0")
	m.mark("short", "2s")
	m.mark("long", "1h")
	is("marked", `""`, `"ever"`, `"long"`, `"short"`)
	m.Kill()
	m.start()
	m.waitReady()
	m.eventually("the short one is over", func(context.Context) error {
		if got := m.fresh(); !slices.Equal(got, []string{`""`, `"ever"`, `"long"`}) {
			return fmt.Errorf("fresh are %v", got)
		}
		return nil
	})
	all, _, err := m.Client.Domains().ListAll(t.Context(), nil)
	if err != nil || len(all) != 4 {
		t.Errorf("there are %d: %v", len(all), err)
	}
	m.mark("long", "1ns")
	is("shortened", `""`, `"ever"`)
	for name, ttl := range map[string]string{"a b": "-1s", "@none": "4294967296", strings.Repeat("x", 300): "soon"} {
		_, err := m.Client.Domains().Mark(t.Context(), name, &api.DomainRequest{TTL: ttl})
		if api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), "TTL") {
			t.Errorf("domain %q for %q: %v", name, ttl, err)
		}
		if err != nil && name != "@none" && !strings.Contains(err.Error(), "name") { // in paths, @none is the domain without a name
			t.Errorf("domain %q for %q: its name is not refused: %v", name, ttl, err)
		}
	}
}

// TestAnOldDataDirectoryEndsFreshness puts back what the server knew earlier.
func TestAnOldDataDirectoryEndsFreshness(t *testing.T) {
	m := newMachine(t)
	m.register(testbed.ShellJob("early", 2, "exec sleep 86441"))
	m.allocations("early", "runs", running(2))
	m.mark("cf", "")
	m.Kill()
	old := filepath.Join(t.TempDir(), "server")
	if err := os.CopyFS(old, os.DirFS(filepath.Join(m.Dir, "server"))); err != nil {
		t.Fatal(err)
	}
	m.start()
	m.waitReady()
	m.register(testbed.ShellJob("late", 3, "exec sleep 86442"))
	m.allocations("late", "runs", running(3))
	var before []int
	m.eventually("five tasks run", func(context.Context) error { // their shells have become what they say
		before = m.pidsOf("sleep", "8644")
		slices.Sort(before)
		if len(before) != 5 {
			return fmt.Errorf("%d do", len(before))
		}
		return nil
	})
	m.forget(func() {
		if err := os.CopyFS(filepath.Join(m.Dir, "server"), os.DirFS(old)); err != nil {
			t.Fatal(err)
		}
	})
	m.held("late", "what is newer than the servers is adopted", "0*", "1*", "2*")
	m.held("early", "what is older is as it was", "0", "1")
	if got := m.fresh(); len(got) != 0 {
		t.Errorf("fresh are %v", got)
	}
	m.register(testbed.ShellJob("late", 3, "exec sleep 86442"))
	m.held("late", "its job takes it over", "0", "1", "2")
	after := m.pidsOf("sleep", "8644")
	slices.Sort(after)
	if len(before) != 5 || !slices.Equal(after, before) {
		t.Errorf("processes are %v, and were %v", after, before)
	}
}

// TestThreeHundredScaleDown scales 300 instances down to five while the server
// is killed.
func TestThreeHundredScaleDown(t *testing.T) {
	m := newMachine(t)
	job := testbed.ShellJob("many", 300, "exec sleep 86451")
	m.register(job)
	m.allocations("many", "runs", running(300))
	if _, err := m.Client.Jobs().Scale(t.Context(), "many", &api.ScaleJobRequest{Count: ptr(int64(5)), Target: map[string]string{"Group": "main"}}); err != nil {
		t.Fatal(err)
	}
	m.Kill()
	m.start()
	m.waitReady()
	m.held("many", "the lowest five are left", "0", "1", "2", "3", "4")
	m.eventually("five processes run", func(context.Context) error {
		if n := len(m.pidsOf("sleep", "86451")); n != 5 {
			return fmt.Errorf("%d do", n)
		}
		return nil
	})
}

// TestWhatDoesNotFitWaitsAndSaysWhy has an instance wait for room that another
// job's end makes.
func TestWhatDoesNotFitWaitsAndSaysWhy(t *testing.T) {
	m := newMachine(t)
	nodes, _, err := m.Client.Nodes().List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	node, _, err := m.Client.Nodes().Get(t.Context(), nodes[0].ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	memory := int(node.Resources.Memory.MemoryMB)
	large := func(id string) *api.Job {
		j := testbed.ShellJob(id, 1, "exec sleep 86461")
		j.Groups[0].Tasks[0].Resources = &api.Resources{CPU: ptr(1), MemoryMB: ptr(memory * 2 / 3)}
		return j
	}
	m.register(large("first"))
	m.allocations("first", "runs", running(1))
	m.register(large("second"))
	one := func(what string, ok func(*api.Instance) bool) {
		t.Helper()
		m.eventually(what, func(ctx context.Context) error {
			list, _, err := m.Client.Instances().List(ctx, "second", nil)
			if err != nil {
				return err
			}
			if !ok(list[0]) {
				return fmt.Errorf("%d instances; the first: %+v", len(list), *list[0])
			}
			return nil
		})
	}
	one("it waits and says why", func(i *api.Instance) bool {
		return i.State == api.InstanceUnclaimed && strings.Contains(i.PlacementError, "1 node full (memory)") && i.Address == ""
	})
	if _, err := m.Client.Jobs().Deregister(t.Context(), "first", client.DeregisterOptions{}); err != nil {
		t.Fatal(err)
	}
	one("it runs once there is room", func(i *api.Instance) bool {
		return i.State == api.InstanceRunning && i.PlacementError == ""
	})
}
