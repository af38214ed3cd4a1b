// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// watched is a machine whose traffic is looked at from all sides: the catalog's
// stream, the list of a service, and the name server.
type watched struct {
	*machine
	names string // the name server's address

	mu      sync.Mutex
	entries map[string]*api.CatalogEntry
	changed chan struct{} // closed at the next update
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	names := freeAddress(t)
	config := filepath.Join(t.TempDir(), "agent.hcl")
	if err := os.WriteFile(config, fmt.Appendf(nil, "dns {\n  address = %q\n}\n", names), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &watched{machine: unstarted(t), names: names, entries: map[string]*api.CatalogEntry{}, changed: make(chan struct{})}
	w.Args = []string{"-dev", "-config", config}
	w.start()
	w.waitReady()
	w.follow()
	return w
}

// follow reads the catalog's stream as long as the test runs.
func (w *watched) follow() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Client.Catalog().Stream(ctx, w.update) }()
	w.t.Cleanup(func() {
		cancel()
		<-done
	})
}

func (w *watched) update(u *api.CatalogUpdate) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if u.Complete {
		clear(w.entries)
	}
	for _, e := range u.Entries {
		w.entries[e.AllocID] = e
	}
	for _, id := range u.Removed {
		delete(w.entries, id)
	}
	close(w.changed)
	w.changed = make(chan struct{})
	return nil
}

// inStream waits until the stream has told of n routable instances.
func (w *watched) inStream(n int) time.Time {
	w.t.Helper()
	late := wait.Limit(w.t, patience)
	for {
		w.mu.Lock()
		have, changed := len(w.entries), w.changed
		w.mu.Unlock()
		if have == n {
			return time.Now()
		}
		select {
		case <-changed:
		case <-late:
			w.t.Fatalf("the stream knows %d routable instances, want %d", have, n)
		}
	}
}

// inDNS asks without a pause until a name has n addresses and ports.
func (w *watched) inDNS(name string, n int) time.Time {
	w.t.Helper()
	c := &dns.Client{Timeout: patience}
	conn, err := c.DialContext(w.t.Context(), w.names)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	for late := wait.Limit(w.t, patience); !isClosed(late); {
		q := new(dns.Msg)
		q.SetQuestion(name, dns.TypeSRV)
		m, _, err := c.ExchangeWithConn(q, conn)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(m.Answer) == n {
			return time.Now()
		}
	}
	w.t.Fatalf("%s never had %d records", name, n)
	return time.Time{}
}

// inList waits, with blocking queries, until a service has n registrations.
func (w *watched) inList(service string, n int) time.Time {
	w.t.Helper()
	var index uint64
	for late := wait.Limit(w.t, patience); !isClosed(late); {
		q := &client.QueryOptions{Index: index, Wait: 5 * time.Second}
		all, meta, err := w.Client.Services().Get(w.t.Context(), service, q)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(all) == n {
			return time.Now()
		}
		index = meta.Index
	}
	w.t.Fatalf("%s never had %d registrations", service, n)
	return time.Time{}
}

// everywhere waits until stream, names and list all have n, and returns the
// slowest.
func (w *watched) everywhere(n int) time.Time {
	w.t.Helper()
	var at [3]time.Time
	var wg sync.WaitGroup
	wg.Go(func() { at[0] = w.inStream(n) })
	wg.Go(func() { at[1] = w.inDNS("web.default.svc.reeve.", n) })
	wg.Go(func() { at[2] = w.inList("web", n) })
	wg.Wait()
	return slices.MaxFunc(at[:], time.Time.Compare)
}

// webService offers the job's port "http" as "web".
func webService(job *api.Job, checks ...*api.Check) {
	g := job.Groups[0]
	g.Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}}}}
	g.Services = []*api.Service{{Name: "web", Provider: "nomad", PortLabel: "http", Tags: []string{"v1"}, Checks: checks}}
}

// spread says how long things took.
func spread(took []time.Duration) string {
	slices.Sort(took)
	return fmt.Sprintf("p50 %s, worst of %d %s", took[len(took)/2].Round(10*time.Microsecond), len(took), took[len(took)-1].Round(10*time.Microsecond))
}

// atOnce is more than the fastest of some changes takes on a busy machine, and
// less than anything that waits for its turn would.
const atOnce = 100 * time.Millisecond

func TestLostReadinessTakesTrafficAwayAtOnce(t *testing.T) {
	w := newWatched(t)
	var well atomic.Bool
	var failed atomic.Pointer[time.Time]
	well.Store(true)
	probed := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		if !well.Load() {
			now := time.Now()
			failed.CompareAndSwap(nil, &now)
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer probed.Close()
	_, port, err := net.SplitHostPort(probed.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	job := testbed.ShellJob("shop", 1, "exec sleep 1000")
	webService(job, &api.Check{Name: "ready", Type: "http", Path: "/", PortLabel: port, Kind: api.CheckKindReadiness, Interval: time.Second, Timeout: time.Second})
	w.register(job)
	w.everywhere(1)
	first := w.allocations("shop", "runs", running(1))[0].ID

	var took []time.Duration
	for range 5 {
		failed.Store(nil)
		well.Store(false)
		out := w.everywhere(0)
		took = append(took, out.Sub(*failed.Load()))
		well.Store(true)
		w.everywhere(1)
	}
	t.Logf("a readiness check's bad answer -> out of stream, DNS and list: %s", spread(took))
	if took[0] > atOnce {
		t.Errorf("even the fastest took %s", took[0])
	}
	if again := w.allocations("shop", "still runs", running(1)); again[0].ID != first || len(again) != 1 || again[0].TaskStates["task"].Restarts != 0 {
		t.Error("an instance was restarted or replaced because it was not ready")
	}
}

func TestCrashTakesTrafficAwayAtOnce(t *testing.T) {
	w := newWatched(t)
	pipe := filepath.Join(t.TempDir(), "crash")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	job := testbed.ShellJob("shop", 1, `read word < "`+pipe+`"; exit 7`)
	webService(job)
	job.Groups[0].Restart = &api.Restart{Attempts: ptr(1000), Interval: ptr(time.Hour), Delay: ptr(time.Second), Mode: ptr("delay")} // long enough to be seen on a busy machine
	w.register(job)
	w.everywhere(1)
	var took []time.Duration
	for range 5 {
		f, err := os.OpenFile(pipe, os.O_WRONLY, 0) // once the task reads it
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = f.WriteString("now\n")
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		took = append(took, w.everywhere(0).Sub(began))
		w.everywhere(1)
	}
	t.Logf("a task is told to crash -> out of stream, DNS and list: %s", spread(took))
	if took[0] > atOnce {
		t.Errorf("even the fastest took %s", took[0])
	}
}

func TestStopTakesTrafficAwayBeforeTheTaskEnds(t *testing.T) {
	w := newWatched(t)
	job := testbed.ShellJob("shop", 2, "exec sleep 1000")
	webService(job)
	job.Groups[0].ShutdownDelay = ptr(2 * time.Second)
	w.register(job)
	w.everywhere(2)
	w.mu.Lock()
	var id string
	for _, e := range w.entries {
		id = e.AllocID
		if host, port, err := net.SplitHostPort(e.Services[0].Address + ":" + strconv.Itoa(e.Services[0].Port)); err != nil || host == "" || port == "0" {
			t.Errorf("%s:%s is no address", host, port)
		}
	}
	w.mu.Unlock()
	if _, err := w.Client.Allocations().Stop(t.Context(), id, false); err != nil {
		t.Fatal(err)
	}
	w.eventually("what was told to stop is out of its service", func(ctx context.Context) error {
		all, _, err := w.Client.Services().Get(ctx, "web", nil)
		if err == nil && slices.ContainsFunc(all, func(r *api.ServiceRegistration) bool { return r.AllocID == id }) {
			err = errors.New("it is still listed")
		}
		return err
	})
	a, _, err := w.Client.Allocations().Get(t.Context(), id, nil)
	if err != nil || a.ClientStatus != api.AllocClientRunning {
		t.Errorf("the task did not outlive its traffic: %s, %v", a.ClientStatus, err)
	}
}
