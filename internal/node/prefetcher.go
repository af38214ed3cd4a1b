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
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

const (
	// prefetchRetry is the time until a failed prefetch is tried again; it doubles up to prefetchRetryMost.
	prefetchRetry     = 30 * time.Second
	prefetchRetryMost = 10 * time.Minute
)

// An aheadImage identifies an image to pull ahead.
type aheadImage struct {
	versionKey
	group, task string
}

// An ahead is the progress of one image.
type ahead struct {
	aheadImage
	prefetch *api.Prefetch
	job      *api.Job
	status   string // one of the api.Prefetch constants
	message  string
	pause    time.Duration // before the next attempt, if it fails as well
	next     time.Time     // earliest time of the next attempt
}

// A prefetcher pulls the images that the servers name, one at a time. It keeps nothing across restarts: each connection
// begins with the whole list.
type prefetcher struct {
	pull    func(ctx context.Context, a *ahead) error
	log     *slog.Logger
	changed chan struct{}

	mu      sync.Mutex
	known   bool // reports whether a list arrived
	images  []*ahead
	current aheadImage
	abandon context.CancelFunc // of the current pull; nil: none runs
}

func newPrefetcher(pull func(context.Context, *ahead) error, log *slog.Logger) *prefetcher {
	return &prefetcher{pull: pull, log: log, changed: make(chan struct{}, 1)}
}

// receive replaces the list by the one of a message, if it has one. The images that stay keep their progress, and the
// current pull ends if its image is no longer in the list.
func (p *prefetcher) receive(m *api.NodeAllocations) {
	if !m.HasPrefetches && !m.Complete { // a complete message of earlier servers has none
		return
	}
	jobs := make(map[versionKey]*api.Job, len(m.Jobs))
	for _, j := range m.Jobs {
		jobs[versionKey{j.Namespace, j.ID, j.Version, j.CreateIndex}] = j
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	former := make(map[aheadImage]*ahead, len(p.images))
	for _, a := range p.images {
		former[a.aheadImage] = a
	}
	p.known, p.images = true, nil
	for _, f := range m.Prefetches {
		if f == nil {
			continue
		}
		key := versionKey{f.Namespace, f.JobID, f.JobVersion, f.JobCreateIndex}
		job := jobs[key]
		if job == nil || job.Group(f.Group) == nil {
			continue
		}
		for _, t := range job.Group(f.Group).Tasks {
			if !api.RunsImages(t.Driver) {
				continue
			}
			a := &ahead{aheadImage: aheadImage{key, f.Group, t.Name}, prefetch: f, job: job, status: api.PrefetchWaiting}
			if old := former[a.aheadImage]; old != nil && slices.EqualFunc(old.prefetch.Pins, f.Pins, samePin) {
				a = old
			}
			p.images = append(p.images, a)
		}
	}
	if p.abandon != nil && p.find(p.current) == nil {
		p.abandon()
	}
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

func samePin(a, b *api.PrefetchPin) bool { return a == b || a != nil && b != nil && *a == *b }

// find returns an image of the list, or nil. The caller holds the mutex.
func (p *prefetcher) find(image aheadImage) *ahead {
	if at := slices.IndexFunc(p.images, func(a *ahead) bool { return a.aheadImage == image }); at >= 0 {
		return p.images[at]
	}
	return nil
}

// wants reports whether the list has images of a version, or no list has arrived.
func (p *prefetcher) wants(namespace, job string, version uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.known || slices.ContainsFunc(p.images, func(a *ahead) bool {
		return a.namespace == namespace && a.id == job && a.version == version
	})
}

// list describes the images.
func (p *prefetcher) list() (all []*api.NodePrefetch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.images {
		image, _ := a.job.Group(a.group).Task(a.task).Config["image"].(string)
		all = append(all, &api.NodePrefetch{
			Namespace: a.namespace, JobID: a.id, JobVersion: a.version, Group: a.group, Task: a.task, Image: image, Status: a.status, Message: a.message,
		})
	}
	return all
}

// run pulls images until ctx ends.
func (p *prefetcher) run(ctx context.Context) {
	for ctx.Err() == nil {
		a, pulling, wake := p.begin(ctx)
		if a == nil {
			var due <-chan time.Time
			if wake > 0 {
				due = time.After(wake)
			}
			select {
			case <-p.changed:
			case <-due:
			case <-ctx.Done():
			}
			continue
		}
		p.end(a, p.pull(pulling, a))
	}
}

// begin selects the next image that is due. Without one it returns the time until an image is, or 0.
func (p *prefetcher) begin(ctx context.Context) (a *ahead, pulling context.Context, wake time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for _, a := range p.images {
		if a.status != api.PrefetchWaiting {
			continue
		}
		if left := a.next.Sub(now); left > 0 {
			if wake == 0 || left < wake {
				wake = left
			}
			continue
		}
		pulling, p.abandon = context.WithCancel(ctx)
		p.current, a.status, a.message = a.aheadImage, api.PrefetchPulling, ""
		return a, pulling, 0
	}
	return nil, nil, wake
}

// end records the result of a pull.
func (p *prefetcher) end(a *ahead, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.abandon()
	p.abandon = nil
	if err == nil {
		a.status = api.PrefetchDone
		return
	}
	var skip *driver.SkipError
	if errors.As(err, &skip) {
		a.status, a.message = api.PrefetchSkipped, skip.Reason
		return
	}
	a.pause = min(max(2*a.pause, prefetchRetry), prefetchRetryMost)
	a.status, a.message, a.next = api.PrefetchWaiting, err.Error(), time.Now().Add(a.pause)
	if p.find(a.aheadImage) == a {
		p.log.Info("cannot pull an image ahead of a rollout", "job", a.id, "version", a.version, "task", a.task, "error", err, "retry", a.pause)
	}
}

// digestFor returns the digest that the version runs of an image; "" if it is not known.
func (a *ahead) digestFor(image string) string {
	for _, p := range a.prefetch.Pins {
		if p != nil && p.Task == a.task && p.Image == image && api.IsImageDigest(p.Digest) {
			return p.Digest
		}
	}
	return ""
}

// readsTask reports whether a text has variables that only a task has. A value that depends on the allocation leads to an
// image without a pin, or stays as it is.
func readsTask(config map[string]any) bool {
	for _, v := range config {
		switch v := v.(type) {
		case string:
			if strings.Contains(v, "${env[") {
				return true
			}
		case map[string]any:
			if readsTask(v) {
				return true
			}
		case []any:
			for _, x := range v {
				if m, ok := x.(map[string]any); ok && readsTask(m) {
					return true
				}
			}
		}
	}
	return false
}
