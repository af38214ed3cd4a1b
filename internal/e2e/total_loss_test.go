// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// TestTotalLossStopsNothing deletes all that the servers know while 50 tasks
// run, and begins anew. Nothing stops; all are orphans; the same jobs take them
// over without a restart; and what nobody registers stops only when its domain
// is fresh.
func TestTotalLossStopsNothing(t *testing.T) {
	m := newMachine(t)
	jobs := func() []*api.Job {
		return []*api.Job{testbed.ShellJob("web", 30, "exec sleep 86401"), testbed.ShellJob("cart", 15, "exec sleep 86402"), testbed.ShellJob("left", 5, "exec sleep 86403")}
	}
	for _, j := range jobs() {
		m.register(j)
		m.allocations(j.ID, "runs", running(*j.Groups[0].Count))
	}
	pids := func(text string) []int {
		p := m.pidsOf("sleep", text)
		slices.Sort(p)
		return p
	}
	var before []int
	m.eventually("50 tasks run", func(context.Context) error { // their shells have become what they say
		if before = pids("8640"); len(before) != 50 {
			return fmt.Errorf("%d do", len(before))
		}
		return nil
	})

	m.Kill()
	if err := os.RemoveAll(filepath.Join(m.Dir, "server")); err != nil {
		t.Fatal(err)
	}
	m.start()
	m.waitReady()
	orphans := func(n int) {
		t.Helper()
		m.eventually(fmt.Sprintf("%d orphans", n), func(ctx context.Context) error {
			list, _, err := m.Client.Domains().Orphans(ctx, nil)
			if err == nil && len(list) != n {
				err = fmt.Errorf("there are %d", len(list))
			}
			return err
		})
	}
	orphans(50)
	same := func(when string, want []int, text string) {
		t.Helper()
		if got := pids(text); !slices.Equal(got, want) {
			t.Fatalf("%s: %d processes run, and were %d: %v, %v", when, len(got), len(want), got, want)
		}
	}
	same("after the loss", before, "8640")
	fresh, _, err := m.Client.Domains().List(t.Context(), nil)
	if err != nil || len(fresh) != 0 {
		t.Fatalf("fresh are %v: %v", fresh, err)
	}

	for _, j := range jobs()[:2] {
		m.register(j)
		m.allocations(j.ID, "runs as before", running(*j.Groups[0].Count))
	}
	orphans(5)
	same("after the jobs were registered", before, "8640")
	list, _, err := m.Client.Allocations().List(t.Context(), nil)
	if err != nil || len(list) != 50 {
		t.Errorf("there are %d allocations, want the 50 there were: %v", len(list), err)
	}

	stays := append(pids("86401"), pids("86402")...)
	slices.Sort(stays)
	if _, err := m.Client.Domains().Mark(t.Context(), "", &api.DomainRequest{}); err != nil {
		t.Fatal(err)
	}
	m.eventually("what nobody wants has ended", func(context.Context) error {
		if n := len(pids("86403")); n > 0 {
			return fmt.Errorf("%d run", n)
		}
		return nil
	})
	same("at the end", stays, "8640")
	orphans(0)
}
