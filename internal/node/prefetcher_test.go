// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/drivertest"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

const aDigest = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// registry is a driver whose pulls end when the test says so.
type registry struct {
	*drivertest.Driver
	mu      sync.Mutex
	asked   []string
	running int
	most    int
	end     chan error
}

func (r *registry) Prefetch(ctx context.Context, p *driver.Prefetch) error {
	r.mu.Lock()
	r.asked = append(r.asked, p.JobID+" "+p.Config["image"].(string)+" "+p.Digest)
	r.running++
	r.most = max(r.most, r.running)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.running--
	}()
	select {
	case err := <-r.end:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *registry) pulls() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asked)
}

// imageJob is a job with a task that runs an image.
func imageJob(id string, config map[string]any) *api.Job {
	j := jobOf(api.JobTypeService, &api.Task{Name: "t", Driver: api.DriverContainer, Config: config, Env: map[string]string{"IMAGE": "app:2"}})
	j.ID, j.Version = id, 3
	return j
}

// prefetchOf makes the whole list of a node's prefetches, whose images have one digest.
func prefetchOf(jobs ...*api.Job) *api.NodeAllocations {
	m := &api.NodeAllocations{HasPrefetches: true, Jobs: jobs}
	for _, j := range jobs {
		m.Prefetches = append(m.Prefetches, &api.Prefetch{
			Namespace: j.Namespace, JobID: j.ID, JobVersion: j.Version, JobCreateIndex: j.CreateIndex, Group: "g",
			Pins: []*api.PrefetchPin{{Task: "t", Image: "app:2", Digest: aDigest}, nil},
		})
	}
	return m
}

// prefetching runs a node with a driver that pulls images ahead.
func prefetching(t *testing.T, do func(t *testing.T, s *fakeServers, r *registry, n *Node)) {
	t.Helper()
	dir := t.TempDir()
	bubble.Test(t, func(t *testing.T) {
		s, r := newServers(), &registry{Driver: drivertest.New(), end: make(chan error)}
		n := run(t, dir, s, map[string]driver.Driver{"fake": r, api.DriverContainer: r})
		defer n.stop()
		synctest.Wait()
		do(t, s, r, n.Node)
	})
}

// tell sends a message, and waits until the node has acted on it.
func (s *fakeServers) tell(m *api.NodeAllocations) {
	s.messages <- m
	synctest.Wait()
}

func statuses(n *Node) string {
	var all []string
	for _, p := range n.prefetcher.list() {
		all = append(all, strings.TrimSuffix(p.JobID+" "+p.Status+": "+p.Message, ": "))
	}
	return strings.Join(all, "; ")
}

func TestImagesArePulledAheadOneAtATime(t *testing.T) {
	prefetching(t, func(t *testing.T, s *fakeServers, r *registry, n *Node) {
		if !n.Prefetches("default", "a", 3) {
			t.Error("before the first message the node knows that it prefetches nothing")
		}
		app := map[string]any{"image": "app:2"}
		s.tell(prefetchOf(imageJob("a", app), imageJob("b", map[string]any{"image": "${IMAGE}"}), imageJob("c", app)))
		want(t, "at first", "a pulling; b waiting; c waiting", statuses(n))
		r.end <- nil
		synctest.Wait()
		want(t, "after the first", "a done; b pulling; c waiting", statuses(n))
		r.end <- nil
		synctest.Wait()
		r.end <- nil
		synctest.Wait()
		want(t, "at the end", "a done; b done; c done", statuses(n))
		want(t, "pulls", []string{"a app:2 " + aDigest, "b app:2 " + aDigest, "c app:2 " + aDigest}, r.pulls())
		if r.most != 1 {
			t.Errorf("%d pulls at a time", r.most)
		}
		if n.Prefetches("default", "a", 2) || !n.Prefetches("default", "a", 3) || n.Prefetches("other", "a", 3) {
			t.Error("the node does not know which versions it prefetches")
		}
		s.tell(prefetchOf(imageJob("a", app), imageJob("c", app)))
		want(t, "the same images again", "a done; c done", statuses(n))
		if n.Prefetches("default", "b", 3) {
			t.Error("an image stays needed after the end of its rollout")
		}
	})
}

func TestAPrefetchEndsWithItsRollout(t *testing.T) {
	prefetching(t, func(t *testing.T, s *fakeServers, r *registry, n *Node) {
		app := map[string]any{"image": "app:2"}
		s.tell(prefetchOf(imageJob("a", app), imageJob("b", app)))
		s.tell(&api.NodeAllocations{Index: 4}) // says nothing of prefetches
		want(t, "a message about something else", "a pulling; b waiting", statuses(n))
		s.tell(prefetchOf(imageJob("b", app)))
		want(t, "the first rollout has ended", "b pulling", statuses(n))
		s.tell(&api.NodeAllocations{Complete: true}) // of servers that know no prefetches
		want(t, "all have ended", "", statuses(n))
		if r.running != 0 {
			t.Errorf("%d pulls go on", r.running)
		}
	})
}

func TestFailedPrefetchesAreTriedAgain(t *testing.T) {
	prefetching(t, func(t *testing.T, s *fakeServers, r *registry, n *Node) {
		s.tell(prefetchOf(imageJob("a", map[string]any{"image": "app:2"})))
		for attempt, pause := range []time.Duration{prefetchRetry, 2 * prefetchRetry, 4 * prefetchRetry} {
			r.end <- errors.New("the registry is away")
			synctest.Wait()
			want(t, "after a failure", "a waiting: the registry is away", statuses(n))
			time.Sleep(pause - time.Second)
			synctest.Wait()
			want(t, "pulls before the pause has ended", attempt+1, len(r.pulls()))
			time.Sleep(2 * time.Second)
			synctest.Wait()
			want(t, "pulls after the pause", attempt+2, len(r.pulls()))
		}
		r.end <- &driver.SkipError{Reason: "no use"}
		time.Sleep(time.Hour)
		synctest.Wait()
		want(t, "after an error that stays", "a skipped: no use", statuses(n))
		want(t, "pulls", 4, len(r.pulls()))
	})
}

// TestHostilePrefetches sends what no honest server sends, and jobs whose images only a task knows.
func TestHostilePrefetches(t *testing.T) {
	prefetching(t, func(t *testing.T, s *fakeServers, r *registry, n *Node) {
		env := imageJob("env", map[string]any{"image": `app:${env["SECRET"]}`})
		nested := imageJob("nested", map[string]any{"image": "app:2", "auth": []any{map[string]any{"password": `${env["SECRET"]}`}}})
		unknown := imageJob("unknown", map[string]any{"image": "app:${SECRET}"})
		number := imageJob("number", map[string]any{"image": 7})
		none := imageJob("none", nil)
		m := prefetchOf(env, nested, unknown)
		m.Prefetches = append(m.Prefetches, nil, &api.Prefetch{}, &api.Prefetch{Namespace: "default", JobID: "env", JobVersion: 9}, &api.Prefetch{Namespace: "default", JobID: "env", JobVersion: 3, Group: "other"})
		s.tell(m)
		want(t, "statuses", "env skipped: the image or its credentials are known when the task starts; nested skipped: the image or its credentials are known when the task starts; unknown skipped: the name of the image is known when the task starts", statuses(n))
		if got := r.pulls(); len(got) > 0 {
			t.Errorf("the node pulls %q", got)
		}
		s.tell(prefetchOf(number, none))
		want(t, "statuses", "number skipped: config image is not a name; none skipped: config image is not a name", statuses(n))
		wrong := prefetchOf(imageJob("pin", map[string]any{"image": "app:2"}))
		wrong.Prefetches[0].Pins = []*api.PrefetchPin{{Task: "t", Image: "app:2", Digest: "sha256:../.."}, {Task: "other", Image: "app:2", Digest: aDigest}, {Task: "t", Image: "app:3", Digest: aDigest}}
		s.tell(wrong)
		want(t, "pulls", []string{"pin app:2 "}, r.pulls())
		r.end <- nil
	})
}

// TestDriversWithoutPrefetch gives a prefetch to a node whose driver pulls no images.
func TestDriversWithoutPrefetch(t *testing.T) {
	p := newPrefetcher((&Node{config: Config{Drivers: map[string]driver.Driver{api.DriverContainer: drivertest.New()}}}).pullAhead, slog.New(slog.DiscardHandler))
	p.receive(prefetchOf(imageJob("a", map[string]any{"image": "app:2"})))
	a, ctx, _ := p.begin(t.Context())
	p.end(a, p.pull(ctx, a))
	if got := p.list(); len(got) != 1 || got[0].Status != api.PrefetchSkipped || got[0].Message != "driver container of this node pulls no images" {
		t.Errorf("the prefetch is %+v", got)
	}
}
