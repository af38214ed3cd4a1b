// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// TestVolumeTemplateAndSecretOfABookshop walks through examples/bookshop.hcl: the number of visits stays in the volume
// over a restart, a new password and the end of the job.
func TestVolumeTemplateAndSecretOfABookshop(t *testing.T) {
	t.Parallel()
	const example = "../../examples/bookshop.hcl"
	b := &bookshop{machine: newMachine(t)}
	b.reeve("volume", "create", "../../examples/volume-create.hcl")
	b.reeve("var", "put", "nomad/jobs/bookshop", "password=first")
	b.reeve("job", "run", example)
	b.visit("visit 1", "visit 2")

	b.reeve("job", "restart", "bookshop")
	b.visit("visit 3", "visit 4")

	tasks := b.restarts()
	b.reeve("var", "put", "nomad/jobs/bookshop", "password=second")
	b.eventually("all tasks restart", func(context.Context) error {
		for name, n := range b.restarts() {
			if n == tasks[name] {
				return fmt.Errorf("%s has restarted %d times, as before", name, n)
			}
		}
		return nil
	})
	b.visit("visit 5", "visit 6")

	b.reeve("job", "stop", "bookshop")
	b.reeve("job", "run", example)
	b.visit("visit 7", "visit 8")
}

type bookshop struct{ *machine }

// allocs lists the allocations that are to run.
func (b *bookshop) allocs(group string) (running []*api.AllocationListStub) {
	b.t.Helper()
	all, _, err := b.Client.Jobs().Allocations(b.t.Context(), "bookshop", false, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, a := range all {
		if a.DesiredStatus == api.AllocDesiredRun && strings.HasPrefix(a.TaskGroup, group) {
			running = append(running, a)
		}
	}
	return running
}

func (b *bookshop) restarts() map[string]uint64 {
	b.t.Helper()
	count := map[string]uint64{}
	for _, a := range b.allocs("") {
		for _, s := range a.TaskStates {
			count[a.Name] += s.Restarts
		}
	}
	return count
}

// visit asks each of the two web instances, until each answers with what the database counted.
func (b *bookshop) visit(want ...string) {
	b.t.Helper()
	for i, a := range b.allocs("web") {
		alloc, _, err := b.Client.Allocations().Get(b.t.Context(), a.ID, nil)
		if err != nil {
			b.t.Fatal(err)
		}
		port := alloc.PortMappings()[0]
		b.eventually(want[i], func(ctx context.Context) error {
			q, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s:%d/", port.HostIP, port.Value), nil)
			if err != nil {
				return err
			}
			resp, err := http.DefaultClient.Do(q)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err == nil && !strings.HasSuffix(string(text), want[i]+"\n") {
				err = fmt.Errorf("status %d: %s", resp.StatusCode, text)
			}
			return err
		})
	}
}
