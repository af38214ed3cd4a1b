// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// runningIn waits until a namespace runs n instances of a job, and returns their ids.
func (m *machine) runningIn(namespace, job string, n int) (ids []string) {
	m.t.Helper()
	m.eventually(fmt.Sprintf("%d instances of %s run in %s", n, job, namespace), func(ctx context.Context) error {
		ids = nil
		list, _, err := m.Client.WithNamespace(namespace).Jobs().Allocations(ctx, job, false, nil)
		if err != nil {
			return err
		}
		for _, a := range list {
			if a.ClientStatus == api.AllocClientRunning && a.DesiredStatus == api.AllocDesiredRun {
				ids = append(ids, a.ID)
			}
		}
		if len(ids) != n {
			return fmt.Errorf("%d run", len(ids))
		}
		return nil
	})
	slices.Sort(ids)
	return ids
}

// TestTwinsInNamespaces runs one job in three namespaces, through the death of the agent,
// and removes it from one of them.
func TestTwinsInNamespaces(t *testing.T) {
	m := newMachine(t)
	m.reeve("namespace", "apply", "dev")
	m.reeve("namespace", "apply", "-meta", "team=web", "dev/sandbox")
	namespaces := []string{"default", "dev", "dev/sandbox"}
	before := map[string][]string{}
	for _, ns := range namespaces {
		job := testbed.ShellJob("twin", 2, `echo "namespace $NOMAD_NAMESPACE"; sleep 3600`)
		job.Namespace = ns
		m.register(job)
	}
	for _, ns := range namespaces {
		before[ns] = m.runningIn(ns, "twin", 2)
		for _, id := range before[ns] {
			m.eventually("the task of "+ns+" knows its namespace", func(context.Context) error {
				if out := m.reeve("alloc", "logs", id); !strings.Contains(out, "namespace "+ns+"\n") {
					return fmt.Errorf("its log is %q", out)
				}
				return nil
			})
		}
	}

	m.Kill()
	m.start()
	m.waitReady()
	for _, ns := range namespaces {
		if diff := cmp.Diff(before[ns], m.runningIn(ns, "twin", 2)); diff != "" {
			t.Errorf("namespace %s after kill -9 (-before +after):\n%s", ns, diff)
		}
	}

	if _, err := m.Client.Namespaces().Delete(t.Context(), "dev/sandbox"); api.CodeOf(err) != api.CodeConflict {
		t.Errorf("delete a namespace with a job: %v", err)
	}
	if _, err := m.Client.WithNamespace("dev/sandbox").Jobs().Deregister(t.Context(), "twin", client.DeregisterOptions{Purge: true}); err != nil {
		t.Fatal(err)
	}
	m.eventually("the purged job is gone", func(ctx context.Context) error {
		_, _, err := m.Client.WithNamespace("dev/sandbox").Jobs().Get(ctx, "twin", nil)
		if api.CodeOf(err) == api.CodeNotFound {
			return nil
		}
		return fmt.Errorf("it is there: %v", err)
	})
	m.reeve("namespace", "delete", "dev/sandbox")
	for _, ns := range []string{"default", "dev"} {
		if diff := cmp.Diff(before[ns], m.runningIn(ns, "twin", 2)); diff != "" {
			t.Errorf("namespace %s after the purge in another (-before +after):\n%s", ns, diff)
		}
	}
	list, _, err := m.Client.Namespaces().List(t.Context(), nil)
	if err != nil || len(list) != 2 {
		t.Errorf("namespaces are %v, %v; want default and dev", list, err)
	}
}
