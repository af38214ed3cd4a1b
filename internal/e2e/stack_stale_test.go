// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// TestAnOlderCopyOfTheDataRemovesNoStack runs case 17: the server's data is replaced by a copy from before the
// deployment of a caller. The copy's domain is stale, so sweeps mark nothing, although the copy knows no caller.
func TestAnOlderCopyOfTheDataRemovesNoStack(t *testing.T) {
	removesNoStack(t, func(e *estate) (goBack func()) {
		e.server.Kill()
		data := filepath.Join(e.server.Dir, "server")
		older := filepath.Join(t.TempDir(), "older")
		copied(t, older, data)
		e.begins()
		return func() {
			e.server.Kill()
			copied(t, data, older)
			e.begins()
		}
	})
}

// TestARestoredSnapshotRemovesNoStack is the same with a snapshot, which is restored while the server runs.
func TestARestoredSnapshotRemovesNoStack(t *testing.T) {
	removesNoStack(t, func(e *estate) (goBack func()) {
		file := e.server.save()
		return func() {
			if _, err := e.server.Client.Operator().RestoreSnapshot(t.Context(), bytes.NewReader(file)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// removesNoStack keeps a state, deploys a caller, and goes back to the state that was kept.
func removesNoStack(t *testing.T, keep func(*estate) (goBack func())) {
	t.Helper()
	const ttl = 6 * time.Second
	e := &estate{fleet: &fleet{t: t, server: unstarted(t)}}
	e.server.Args = []string{"-server", "-config", e.server.configured(`server { stack_sweep_interval = "500ms" }`)}
	e.begins()
	e.join()
	e.server.mark("", "")

	unit := func(id, version string) *api.Job {
		job := stackJob(reeve, version, 0)
		job.ID, job.Name = id, ""
		job.Stack.Expose, job.Stack.Shift = nil, nil
		job.Stack.InitialTTL, job.Stack.ExtendTTL, job.Stack.Idle = ptr(ttl), ptr(ttl), ptr(time.Duration(0))
		job.Groups[0].Count = ptr(1)
		return job
	}
	web, spare := e.server.deployStack(unit("web", "1.0.0")), e.server.deployStack(unit("spare", "1.0.0"))
	goBack := keep(e)

	shop := unit("shop", "2.4.0")
	shop.Stack.Depends = []*api.StackDependency{{Unit: "web", Version: "1.0"}}
	forgotten := e.server.deployStack(shop)
	e.keptBecause(web, forgotten+" calls it")
	before := slices.Sorted(slices.Values(e.nodes[0].servers()))

	goBack()
	e.orphans(1)
	if got := e.server.fresh(); len(got) != 0 {
		t.Fatalf("fresh are %v with an older copy of the data", got)
	}
	e.server.refusesStack(forgotten)
	for end := wait.Limit(t, 3*ttl); !isClosed(end); wait.Pass(t.Context(), 200*time.Millisecond) {
		for _, name := range []string{web, spare} {
			if is := e.stack(name); is.Shown != api.StackReady {
				t.Fatalf("%s is %s in a stale domain: %s", name, is.Shown, is.StatusText())
			}
		}
	}
	for _, name := range []string{web, spare} {
		e.keptBecause(name, "the domain of jobs without a domain is stale, so callers may be unknown")
	}
	if after := slices.Sorted(slices.Values(e.nodes[0].servers())); !slices.Equal(after, before) {
		t.Errorf("processes are %v, and were %v", after, before)
	}

	// The caller is deployed again, so that the operator can end the stale time.
	again := e.server.deployStack(shop)
	fresh := time.Now()
	e.server.mark("", "")
	e.server.inState(spare, api.StackGarbage)
	is := e.stack(spare)
	if kept := is.StatusSince.Sub(fresh); kept < ttl {
		t.Errorf("%s became garbage %s after its domain was fresh, want at least %s", spare, kept, ttl)
	}
	if is.StatusText() != "no caller" {
		t.Errorf("%s is garbage: %q, want \"no caller\"", spare, is.StatusText())
	}
	e.keptBecause(web, again+" calls it")
}

func (e *estate) stack(name string) *api.StackStatus {
	e.t.Helper()
	is, _, err := e.server.Client.Stacks().Get(e.t.Context(), name, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	return is
}

// keptBecause waits until a ready stack is kept for a reason.
func (e *estate) keptBecause(stack, why string) {
	e.t.Helper()
	e.server.eventually(fmt.Sprintf("%s is kept: %s", stack, why), func(ctx context.Context) error {
		is, _, err := e.server.Client.Stacks().Get(ctx, stack, nil)
		if err != nil {
			return err
		}
		if is.Shown != api.StackReady || is.Why != why {
			return fmt.Errorf("%s, why: %q", is.Shown, is.Why)
		}
		return nil
	})
}

// refusesStack checks that the server does not know a stack.
func (m *machine) refusesStack(name string) {
	m.t.Helper()
	if _, _, err := m.Client.Stacks().Get(m.t.Context(), name, nil); err == nil || !strings.Contains(err.Error(), name) {
		m.t.Fatalf("stack %s in an older copy: %v, want that it is unknown", name, err)
	}
}
