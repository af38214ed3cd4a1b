// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// imageRollout is a fleet whose nodes run one instance each of a version, and another image for the next one.
type imageRollout struct {
	*fleet
	registry *localRegistry
	waiting  *machine // node of the second step, which has not begun
}

// newImageRollout deploys the first version, and begins the rollout of the next one: the first instance runs, and the
// second step waits until the test says that it is healthy. The registry answers begin before the rollout.
func newImageRollout(t *testing.T, begin func(*localRegistry)) *imageRollout {
	t.Helper()
	r := &imageRollout{fleet: newFleet(t, 2), registry: newRegistry(t)}
	one, _ := r.registry.push("tool:1", "one")
	two, _ := r.registry.push("tool:2", "two")
	job := containerJob("service", one, 2, "env VERSION , wait , exit 0")
	job.Constraints = []*api.Constraint{{Operand: "distinct_hosts", RTarget: "true"}}
	job.Groups[0].Update = &api.Update{
		MaxParallel: ptr(1), MinHealthyTime: ptr(time.Duration(0)), HealthCheck: ptr(api.HealthCheckManual), HealthyDeadline: ptr(time.Hour), ProgressDeadline: ptr(2 * time.Hour),
	}
	r.server.register(job)
	r.approve(r.runs(0, 2))
	begin(r.registry)
	next := job.Copy()
	next.Groups[0].Tasks[0].Config["image"] = two
	r.server.register(next)
	first := r.runs(1, 1)[0]
	for _, n := range r.nodes {
		if r.name(n) != first.NodeName {
			r.waiting = n
		}
	}
	return r
}

// runs waits until so many instances of a version run, and returns them.
func (r *imageRollout) runs(version uint64, count int) (list []*api.AllocationListStub) {
	r.t.Helper()
	r.server.eventually(fmt.Sprintf("%d instances of version %d run", count, version), func(ctx context.Context) error {
		all, _, err := r.server.Client.Jobs().Allocations(ctx, "service", true, nil)
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(all, func(a *api.AllocationListStub) bool {
			return a.JobVersion != version || a.ClientStatus != api.AllocClientRunning || a.DesiredStatus != api.AllocDesiredRun
		})
		if len(list) < count {
			return fmt.Errorf("%d run", len(list))
		}
		return nil
	})
	return list
}

// approve says that instances are healthy.
func (r *imageRollout) approve(list []*api.AllocationListStub) {
	r.t.Helper()
	d, _, err := r.server.Client.Jobs().LatestDeployment(r.t.Context(), "service", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	var ids []string
	for _, a := range list {
		ids = append(ids, a.ID)
	}
	if _, err := r.server.Client.Deployments().SetHealth(r.t.Context(), d.ID, ids, nil); err != nil {
		r.t.Fatal(err)
	}
}

// prefetched waits until the node of the second step lists only a prefetch of the next version, with a status and words of
// its message.
func (r *imageRollout) prefetched(status, words string) (list api.NodeImages) {
	r.t.Helper()
	r.server.eventually("the prefetch is "+status, func(context.Context) error {
		list = api.NodeImages{}
		if err := json.Unmarshal([]byte(r.reeve("node", "images", "-json", "-node", r.name(r.waiting))), &list); err != nil {
			return err
		}
		if len(list.Prefetches) != 1 || list.Prefetches[0].JobVersion != 1 || list.Prefetches[0].Status != status || !strings.Contains(list.Prefetches[0].Message, words) {
			return fmt.Errorf("the list is\n%s", r.reeve("node", "images", "-node", r.name(r.waiting)))
		}
		return nil
	})
	return list
}

// TestContainerPrefetchServesTheNextStep takes the registry away once the second node has the image: the second step
// starts all the same, and fetches nothing.
func TestContainerPrefetchServesTheNextStep(t *testing.T) {
	t.Parallel()
	r := newImageRollout(t, func(*localRegistry) {})
	r.prefetched(api.PrefetchDone, "")
	if got := r.reeve("node", "images", "-node", r.name(r.waiting)); !strings.Contains(got, "keeps it: prefetched for job service version 1") {
		t.Errorf("the list says\n%s", got)
	}
	r.registry.away.Store(true)
	before := r.registry.requests.Load()
	r.approve(r.runs(1, 1))
	second := r.runs(1, 2)
	r.approve(second)
	for _, a := range second {
		if a.NodeName == r.name(r.waiting) {
			r.waiting.printed(a.ID, "VERSION=two", "waiting")
			if got := r.reeve("alloc", "status", a.ID); !strings.Contains(got, "on the node: prefetched for version 1") {
				t.Errorf("the events are\n%s", got)
			}
		}
	}
	if n := r.registry.requests.Load() - before; n != 0 {
		t.Errorf("the second step makes %d requests to the registry", n)
	}
	r.server.eventually("the prefetch ends with its rollout", func(context.Context) error {
		if got := r.reeve("node", "images", "-node", r.name(r.waiting)); strings.Contains(got, "Prefetches") || !strings.Contains(got, "keeps it: in use") {
			return fmt.Errorf("the list is\n%s", got)
		}
		return nil
	})
}

// TestContainerPrefetchFailsQuietly takes the registry away after the first step has its image, and brings it back
// before the second step begins.
func TestContainerPrefetchFailsQuietly(t *testing.T) {
	t.Parallel()
	r := newImageRollout(t, func(registry *localRegistry) { registry.last.Store(true) })
	r.prefetched(api.PrefetchWaiting, "check that the image exists")
	if got := r.reeve("deployment", "list"); !strings.Contains(got, "running") {
		t.Errorf("the deployments are\n%s", got)
	}
	r.registry.away.Store(false)
	r.approve(r.runs(1, 1))
	r.approve(r.runs(1, 2))
	r.server.eventually("the rollout ends", func(ctx context.Context) error {
		d, _, err := r.server.Client.Jobs().LatestDeployment(ctx, "service", nil)
		if err == nil && d.Status != api.DeploymentSuccessful {
			err = fmt.Errorf("it is %s: %s", d.Status, d.StatusDescription)
		}
		return err
	})
}
