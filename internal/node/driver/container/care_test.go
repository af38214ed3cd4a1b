// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/image/store"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// claims are a node with servers that know registered jobs.
type claims struct {
	mu         sync.Mutex
	live       map[string]bool
	registered map[string]bool // jobs
	prefetched map[string]bool // jobs
	away       bool
	asked      int
}

func (c *claims) Prefetches(_, job string, version uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.prefetched[job] && version == 3
}

func (c *claims) Lives(alloc string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live[alloc]
}

func (c *claims) NeededImages(_ context.Context, uses []*api.ImageUse) (needed []*api.ImageUse, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	if c.away {
		return nil, errors.New("no server answers")
	}
	for _, u := range uses {
		if c.registered[u.JobID] {
			needed = append(needed, &api.ImageUse{Namespace: u.Namespace, JobID: u.JobID, Digest: u.Digest, JobVersions: []uint64{3}})
		}
	}
	return needed, nil
}

func (c *claims) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

// ranOnce runs a task of a job with an image of its own.
func (b *bed) ranOnce(t *testing.T, job string) {
	t.Helper()
	b.version(t, job+":1", job)
	task := b.task(t, job+"-alloc/web/1", "exit 0")
	task.JobNamespace, task.JobID, task.AllocID, task.PinImage = "default", job, job+"-alloc", (&pins{}).pin
	b.run(t, task)
}

// names returns the images with their fates.
func names(list []*api.NodeImage) (all []string) {
	for _, i := range list {
		name, _, _ := strings.Cut(strings.TrimPrefix(i.Names[0], "registry.test/"), "@")
		name, _, _ = strings.Cut(name, ":")
		if i.Held {
			name += " held"
		}
		all = append(all, name)
	}
	return all
}

// TestCollectionsKeepWhatAllocationsAndJobsNeed has four images without containers: of an allocation between two
// runs, of a registered job, and of two jobs that are gone.
func TestCollectionsKeepWhatAllocationsAndJobsNeed(t *testing.T) {
	b := newBed(t, func(c *container.Config) { c.Collection = store.Policy{High: 1, Low: 1} })
	c := &claims{live: map[string]bool{"waiting-alloc": true}, registered: map[string]bool{"service": true}}
	for _, job := range []string{"gone", "waiting", "service", "former"} {
		b.ranOnce(t, job)
	}
	list, err := b.ListImages(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(names(list.Images), ", "); got != "gone, former, waiting held, service held" {
		t.Errorf("images: %s", got)
	}
	if list.SizeBytes <= 0 || list.DiskTotalBytes <= 0 || list.Full || list.ServersAway {
		t.Errorf("the list is %+v", list)
	}
	for n, want := range []string{"the disk has room", "the disk has room", "allocation waiting- of job waiting needs it to restart", "job service needs it for version 3"} {
		if i := list.Images[n]; i.Reason != want || i.Order != max(0, []int{1, 2, 0, 0}[n]) || i.Next || len(i.Users) != 1 || !api.IsImageDigest(i.Users[0].Digest) {
			t.Errorf("image %d: %+v", n, i)
		}
	}

	// While the servers do not answer, every job may need its images.
	c.set(func() { c.away = true })
	if list, err = b.CollectImages(t.Context(), c); err != nil || len(list.Removed) != 0 || len(list.Images) != 4 || !list.ServersAway {
		t.Fatalf("a collection without servers: %+v, %v", list, err)
	}
	if want := "the servers do not answer, and job gone may need it"; !slices.ContainsFunc(list.Images, func(i *api.NodeImage) bool { return i.Reason == want }) {
		t.Errorf("no image says %q", want)
	}
	c.set(func() { c.away = false })
	list, err = b.CollectImages(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(names(list.Removed), ", ") + "; " + strings.Join(names(list.Images), ", "); got != "gone, former; waiting held, service held" {
		t.Errorf("removed and kept: %s", got)
	}
	if list.RemovedBytes < 0 {
		t.Errorf("the collection freed %d bytes", list.RemovedBytes)
	}
}

// TestAFullDiskAsksTheServers runs the loop with a store that may hold nothing.
func TestAFullDiskAsksTheServers(t *testing.T) {
	b := newBed(t, func(c *container.Config) { c.Collection = store.Policy{High: 1, Low: 1, MaxBytes: 1} })
	for _, job := range []string{"gone", "service"} {
		b.ranOnce(t, job)
	}
	keep := func(c *claims) *api.NodeImages {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		var loop sync.WaitGroup
		loop.Go(func() { b.Keep(ctx, c) })
		var list *api.NodeImages
		wait.Until(t, "the first look at the disk", func() bool {
			var err error
			list, err = b.ListImages(t.Context(), c)
			return err == nil && list.NextCollection > 0
		})
		cancel()
		loop.Wait()
		return list
	}
	away := &claims{away: true}
	if list := keep(away); len(list.Images) != 2 || !list.Full || away.asked == 0 {
		t.Errorf("without servers %v stay", names(list.Images))
	}
	b.Keep(ended(t), &claims{registered: map[string]bool{"service": true}})
	list, err := b.ListImages(t.Context(), &claims{})
	if err != nil || strings.Join(names(list.Images), ", ") != "service" || !list.Images[0].Next {
		t.Errorf("with servers %v stay, %v", names(list.Images), err)
	}
}

// ended returns a context that has ended: Keep looks at the disk once.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
