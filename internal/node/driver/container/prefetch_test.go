// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
	"github.com/reeve-run/reeve/internal/node/image/store"
)

// ahead pushes an image with the files, and asks for it for version 3 of a job.
func (b *bed) ahead(t *testing.T, job string, files ...containertest.File) *driver.Prefetch {
	t.Helper()
	l, err := containertest.Layer(append(files, containertest.File{Name: "job", Body: job, Mode: 0o644})...)
	if err != nil {
		t.Fatal(err)
	}
	i, err := containertest.Image(nil, runtime.GOARCH, l)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := i.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return &driver.Prefetch{
		Namespace: "default", JobID: job, JobVersion: 3, Digest: digest.String(),
		Config: map[string]any{"image": b.registry.Push(t, job+":1", i)},
	}
}

// requests counts the requests to the registry.
func (b *bed) requests(t *testing.T) *atomic.Int64 {
	t.Helper()
	n := new(atomic.Int64)
	b.registry.Before(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		n.Add(1)
		next.ServeHTTP(w, r)
	})
	return n
}

// TestAPrefetchedImageStartsWithoutTheRegistry pulls an image ahead, takes the registry away, and runs a task.
func TestAPrefetchedImageStartsWithoutTheRegistry(t *testing.T) {
	b := newBed(t, nil)
	p := b.ahead(t, "web")
	if err := b.Prefetch(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if n := b.requests(t); b.Prefetch(t.Context(), p) != nil || n.Load() != 0 {
		t.Errorf("a second prefetch makes %d requests", n.Load())
	}
	c := &claims{prefetched: map[string]bool{"web": true}}
	reason := func(want string, held bool) {
		t.Helper()
		list, err := b.ListImages(t.Context(), c)
		if err != nil || len(list.Images) != 1 {
			t.Fatalf("%d images, %v", len(list.Images), err)
		}
		if i := list.Images[0]; i.Held != held || !strings.Contains(i.Reason, want) || i.Containers != 0 || len(i.Users) != 1 || i.Users[0].Prefetched == nil || i.Users[0].Prefetched.JobVersion != 3 || i.Users[0].Prefetched.Pending != held {
			t.Errorf("the image is %+v", i)
		}
	}
	reason("prefetched for job web version 3", true)
	c.set(func() { c.prefetched = nil })
	reason("the disk has room", false)
	c.set(func() { c.away = true }) // nobody needs to be asked about it
	reason("the disk has room", false)

	b.away()
	var n notes
	task := b.task(t, "alloc/web/1", "cat /job", map[string]any{"image": p.Config["image"]})
	task.JobNamespace, task.JobID, task.AllocID, task.PinImage, task.Notify = "default", "web", "alloc", (&pins{p.Digest}).pin, n.notify
	if got, _ := b.run(t, task); got != "web" {
		t.Errorf("output %q", got)
	}
	if want := "Found registry.test/web:1@" + p.Digest + " on the node: prefetched for version 3"; !slices.Equal(n.said, []string{want}) {
		t.Errorf("messages %q; want %q", n.said, want)
	}
	n.said = nil
	task.ID = "alloc/web/2"
	if b.run(t, task); len(n.said) != 0 {
		t.Errorf("the next run says %q", n.said)
	}
	list, err := b.ListImages(t.Context(), &claims{registered: map[string]bool{"web": true}})
	if err != nil || len(list.Images) != 1 || list.Images[0].Users[0].Prefetched != nil || !list.Images[0].Held {
		t.Errorf("after a run the image is %+v, %v", list.Images[0], err)
	}
}

// TestPrefetchesThatNobodyUsesAreCollected has one image whose rollout goes on, and one whose rollout has ended.
func TestPrefetchesThatNobodyUsesAreCollected(t *testing.T) {
	b := newBed(t, nil)
	for _, job := range []string{"going", "ended"} {
		if err := b.Prefetch(t.Context(), b.ahead(t, job)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := b.CollectImages(t.Context(), &claims{prefetched: map[string]bool{"going": true}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(names(list.Removed), ", ") + "; " + strings.Join(names(list.Images), ", "); got != "ended; going held" {
		t.Errorf("removed and kept: %s", got)
	}
}

// TestPrefetchesLeaveTheDiskRoom prefetches onto full disks, and images that are larger than they say.
func TestPrefetchesLeaveTheDiskRoom(t *testing.T) {
	bomb := containertest.File{Name: "zeros", Mode: 0o644, Body: strings.Repeat("\x00", 64<<20)}
	for name, c := range map[string]struct {
		policy store.Policy
		noRoom bool
		skip   string
		pulls  bool
	}{
		"a disk above its limit":  {store.Policy{High: 0.000001, Low: 0.0000001}, true, "", false},
		"a store above its limit": {store.Policy{High: 1, Low: 1, MaxBytes: 1}, true, "", true},
		"an image of many bytes":  {store.Policy{High: 1, Low: 1, MaxBytes: 48 << 20}, false, "the image holds more than", true},
	} {
		b := newBed(t, func(cfg *container.Config) { cfg.Collection = c.policy })
		p := b.ahead(t, "web", bomb)
		n := b.requests(t)
		err := b.Prefetch(t.Context(), p)
		var skip *driver.SkipError
		if errors.Is(err, driver.ErrNoRoom) != c.noRoom || errors.As(err, &skip) != (c.skip != "") || !strings.Contains(err.Error(), c.skip) {
			t.Errorf("%s: %v", name, err)
		}
		if (n.Load() > 0) != c.pulls {
			t.Errorf("%s: %d requests", name, n.Load())
		}
		list, err := b.ListImages(t.Context(), &claims{})
		if err != nil || len(list.Images) != 0 {
			t.Errorf("%s: the store has %v, %v", name, names(list.Images), err)
		}
	}
}

func TestPrefetchesThatAreUseless(t *testing.T) {
	b := newBed(t, nil)
	good := b.ahead(t, "web")
	for want, change := range map[string]func(p *driver.Prefetch){
		"the image comes from the task's files":             func(p *driver.Prefetch) { p.Config["load"] = "image.tar" },
		"no instance has found the digest of the image yet": func(p *driver.Prefetch) { p.Digest = "" },
		"config image":                       func(p *driver.Prefetch) { p.Config["image"] = "../../etc" },
		"config driver container has no key": func(p *driver.Prefetch) { p.Config["imagé"] = "x" },
		"the credentials for the registry are known when the task starts": func(p *driver.Prefetch) {
			p.Config["auth"] = map[string]any{"username": "u", "password": "${PASSWORD}"}
		},
		"the image comes from the task's files ": func(p *driver.Prefetch) { p.Config["image"] = "oci:local/image" },
	} {
		p := *good
		p.Config = map[string]any{"image": good.Config["image"]}
		change(&p)
		var skip *driver.SkipError
		if err := b.Prefetch(t.Context(), &p); !errors.As(err, &skip) || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("%q: %v", want, err)
		}
	}
	off := newBed(t, func(c *container.Config) { c.NoPrefetch = true })
	if err := off.Prefetch(t.Context(), off.ahead(t, "web")); err == nil || !strings.Contains(err.Error(), "prefetch = false") {
		t.Errorf("with the setting of the operator: %v", err)
	}
	b.away()
	var skip *driver.SkipError
	if err := b.Prefetch(t.Context(), good); err == nil || errors.As(err, &skip) {
		t.Errorf("without a registry: %v", err)
	}
}

// TestPrefetchesUseTheCredentialsOfTheTask has a registry that wants a password.
func TestPrefetchesUseTheCredentialsOfTheTask(t *testing.T) {
	b := newBed(t, nil)
	p := b.ahead(t, "web")
	b.registry.Before(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if user, password, _ := r.BasicAuth(); user != "reader" || password != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
	if err := b.Prefetch(t.Context(), p); err == nil {
		t.Error("the image needs no credentials")
	}
	p.Config["auth"] = map[string]any{"username": "reader", "password": "secret"}
	if err := b.Prefetch(t.Context(), p); err != nil {
		t.Error(err)
	}
}

// TestAnAbandonedPrefetchLeavesNothing ends a prefetch while a layer arrives.
func TestAnAbandonedPrefetchLeavesNothing(t *testing.T) {
	b := newBed(t, nil)
	p := b.ahead(t, "web")
	ctx, abandon := context.WithCancel(t.Context())
	b.registry.Before(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.Contains(r.URL.Path, "/blobs/") {
			abandon()
			<-r.Context().Done()
			return
		}
		next.ServeHTTP(w, r)
	})
	if err := b.Prefetch(ctx, p); err == nil {
		t.Error("the prefetch succeeds")
	}
	list, err := b.ListImages(t.Context(), &claims{})
	if err != nil || len(list.Images) != 0 || list.SizeBytes != 0 {
		t.Errorf("the store has %v of %d bytes, %v", names(list.Images), list.SizeBytes, err)
	}
}
