// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// TestStacksKeepTheirTimeWhileServersAreDown runs case 16 with short times: the time of an unused stack passes
// while the servers are down, and the stack is not garbage before one extension after they return.
func TestStacksKeepTheirTimeWhileServersAreDown(t *testing.T) {
	const ttl = 8 * time.Second
	m := unstarted(t)
	m.Args = []string{"-dev", "-config", m.configured(`server { stack_sweep_interval = "500ms" }`)}
	m.start()
	m.waitReady()

	job := stackJob(m.Reeve, "1.0.0", time.Second)
	job.Stack.Expose = nil
	job.Stack.InitialTTL, job.Stack.ExtendTTL, job.Stack.Idle = ptr(ttl), ptr(ttl), ptr(time.Duration(0))
	name := m.deployStack(job)
	m.inState(name, api.StackReady)
	stack := func() *api.Stack {
		is, _, err := m.Client.Stacks().Get(t.Context(), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		return is.Stack
	}
	before := stack()
	if before.Status != api.StackReady {
		t.Fatalf("the stack is %s before the servers go down", before.Status)
	}

	m.Kill()
	passed, cancel := context.WithDeadline(t.Context(), before.Expires.Add(2*time.Second))
	defer cancel()
	<-passed.Done()
	back := time.Now()
	m.start()
	m.waitReady()
	m.inState(name, api.StackGarbage)
	if kept := stack().StatusSince.Sub(back); kept < ttl {
		t.Errorf("the stack became garbage %s after the servers returned, want at least %s", kept, ttl)
	}
}
