// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// TestAQuotaBlocksUntilSomethingStops fills the quota of two namespaces with real processes, kills the
// server while an instance waits, and stops a process to make room.
func TestAQuotaBlocksUntilSomethingStops(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	ctx := t.Context()
	quota := &api.Quota{Name: "team", Limits: []*api.QuotaLimit{{RegionLimit: &api.QuotaResources{Allocations: ptr(3)}}}}
	m.eventually("the quota is stored", func(ctx context.Context) error { // the level of the state rises after the start
		_, err := m.Client.Quotas().Put(ctx, quota)
		return err
	})
	for _, n := range []*api.Namespace{{Name: "web", Quota: "team"}, {Name: "web/test"}} {
		if _, err := m.Client.Namespaces().Put(ctx, n); err != nil {
			t.Fatal(err)
		}
	}
	run := func(namespace, id string, count int) {
		t.Helper()
		job := testbed.Job(id, "raw_exec", count, map[string]any{"command": "/bin/sleep", "args": []string{"3600"}})
		job.Namespace = namespace
		m.register(job)
	}
	instances := func(namespace, id string, running, waiting int) {
		t.Helper()
		m.eventually(fmt.Sprintf("%d run and %d wait of %s", running, waiting, id), func(ctx context.Context) error {
			list, _, err := m.Client.WithNamespace(namespace).Instances().List(ctx, id, nil)
			if err != nil {
				return err
			}
			runs, waits := 0, 0
			for _, in := range list {
				switch {
				case in.State == api.InstanceRunning:
					runs++
				case strings.Contains(in.PlacementError, `quota "team": allocations exhausted (3 used + 1 asked > 3 limit); see: reeve quota status team`):
					waits++
				}
			}
			if runs != running || waits != waiting {
				return fmt.Errorf("%d run, %d wait: %+v", runs, waits, list)
			}
			return nil
		})
	}
	run("web", "front", 2)
	instances("web", "front", 2, 0)
	run("web/test", "trial", 2)
	instances("web/test", "trial", 1, 1)

	m.Kill()
	m.start()
	m.waitReady()
	instances("web/test", "trial", 1, 1)
	usage, _, err := m.Client.Quotas().Usage(ctx, "team", nil)
	if err != nil || len(usage.Jobs) != 2 || usage.Jobs[0].JobID != "front" || usage.In("").Allocations != 3 {
		t.Fatalf("the usage is %+v, %v", usage, err)
	}

	run("web", "front", 1)
	instances("web", "front", 1, 0)
	instances("web/test", "trial", 2, 0)
}
