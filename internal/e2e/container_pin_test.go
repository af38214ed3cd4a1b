// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
	"github.com/reeve-run/reeve/internal/testbed"
)

// A localRegistry is a registry on the loopback interface that a test can take away.
type localRegistry struct {
	t    *testing.T
	host string
	away atomic.Bool
	pace atomic.Pointer[chan struct{}] // a value lets 10 KiB of an answer through; nil: no limit

	requests atomic.Int64
	last     atomic.Bool // the registry is away after the next blob
}

func newRegistry(t *testing.T) *localRegistry {
	r := &localRegistry{t: t}
	content := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.requests.Add(1)
		if r.away.Load() {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if req.Method == http.MethodGet && strings.Contains(req.URL.Path, "/blobs/") && r.last.CompareAndSwap(true, false) {
			defer r.away.Store(true)
		}
		if pace := r.pace.Load(); pace != nil {
			w = &pacedWriter{w, *pace}
		}
		content.ServeHTTP(w, req)
	}))
	t.Cleanup(s.Close)
	r.host = strings.TrimPrefix(s.URL, "http://")
	return r
}

// A pacedWriter sends 10 KiB for each value of a channel.
type pacedWriter struct {
	http.ResponseWriter
	pace <-chan struct{}
}

func (w *pacedWriter) Write(b []byte) (sent int, err error) {
	for len(b) > 0 && err == nil {
		<-w.pace
		n := 0
		n, err = w.ResponseWriter.Write(b[:min(len(b), 10<<10)])
		sent, b = sent+n, b[n:]
		_ = http.NewResponseController(w.ResponseWriter).Flush()
	}
	return sent, err
}

// push pushes an image that knows its version, and returns its name and its digest.
func (r *localRegistry) push(tag, version string) (image, digest string) {
	r.t.Helper()
	i, err := containertest.Image(func(c *v1.Config) { c.Env = append(c.Env, "VERSION="+version) }, runtime.GOARCH)
	if err != nil {
		r.t.Fatal(err)
	}
	ref, err := name.ParseReference(r.host+"/"+tag, name.Insecure)
	if err == nil {
		err = remote.Write(ref, i)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	h, err := i.Digest()
	if err != nil {
		r.t.Fatal(err)
	}
	return ref.Name(), h.String()
}

// printed waits until the runs of an allocation's task have printed the lines.
func (m *machine) printed(alloc string, want ...string) {
	m.t.Helper()
	m.eventually("the output", func(context.Context) error {
		if got := strings.Fields(m.taskLog(alloc, "stdout")); strings.Join(got, " ") != strings.Join(want, " ") {
			return fmt.Errorf("allocation %s printed %q, not %q", api.ShortID(alloc), got, want)
		}
		return nil
	})
}

// TestContainerPinOutlivesItsTag moves a tag while a version runs, and then takes the registry away: every
// instance and every restart of the version has the first image.
func TestContainerPinOutlivesItsTag(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	m := unstarted(t)
	m.Args = []string{"-dev"}
	m.start()
	m.waitReady()
	image, first := r.push("tool:latest", "one")
	job := testbed.Job("service", "container", 1, map[string]any{"image": image, "args": strings.Fields("env VERSION , wait , exit 3"), "force_pull": true})
	job.Groups[0].Tasks[0].Resources.MemoryMB = ptr(64)
	job.Groups[0].Restart = &api.Restart{Attempts: ptr(9), Delay: ptr(time.Second), Mode: ptr("delay")}
	m.register(job)
	alloc := m.allocations("service", "runs", running(1))[0].ID
	m.printed(alloc, "VERSION=one", "waiting")

	_, second := r.push("tool:latest", "two")
	scaled := *job
	groups := *job.Groups[0]
	groups.Count, scaled.Groups = ptr(2), []*api.Group{&groups}
	m.register(&scaled) // updates the first instance in place
	list := m.allocations("service", "run", running(2))
	for _, a := range list {
		m.printed(a.ID, "VERSION=one", "waiting")
	}
	r.away.Store(true)
	if err := m.Client.Allocations().Signal(t.Context(), alloc, api.SignalAllocationRequest{Task: "task", Signal: "SIGUSR1"}); err != nil {
		t.Fatal(err)
	}
	m.eventually("the restart", func(context.Context) error {
		if got := m.taskLog(alloc, "stdout"); strings.Count(got, "VERSION=one") != 2 {
			return fmt.Errorf("the log is %q", got)
		}
		return nil
	})
	a, _, err := m.Client.Allocations().Get(t.Context(), list[1].ID, nil)
	if err != nil || len(a.Images) != 1 || a.Images[0].Digest != first || a.Images[0].JobVersion != 1 {
		t.Errorf("the allocation shows %+v, %v; want %s", a.Images, err, first)
	}
	for _, show := range []string{m.reeve("job", "status", "service"), m.reeve("alloc", "status", alloc)} {
		if !strings.Contains(show, first) {
			t.Errorf("no digest in\n%s", show)
		}
	}

	// A new version resolves the tag again.
	r.away.Store(false)
	next := scaled
	next.Meta = map[string]string{"release": "2"}
	m.register(&next)
	m.eventually("the new version", func(ctx context.Context) error {
		pins, _, err := m.Client.Jobs().Images(ctx, "service", nil)
		if err == nil && (len(pins) == 0 || pins[0].JobVersion != 2 || pins[0].Digest != second) {
			err = fmt.Errorf("pins: %s", m.reeve("job", "status", "service"))
		}
		return err
	})
	if _, err := m.Client.Jobs().Deregister(t.Context(), "service", client.DeregisterOptions{Purge: true}); err != nil {
		t.Fatal(err)
	}
}
