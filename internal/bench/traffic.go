// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

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
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/miekg/dns"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

const trafficBar = "p99 <= 20 ms"

// Numbers of instances that lose their traffic, and of rounds.
const (
	trafficInstances = 20
	trafficRounds    = 5
)

// traffic measures from the moment at which an instance must not receive traffic until the
// catalog's stream reports it, and until neither the name server nor the router uses it.
func traffic(ctx context.Context, b *bench) error {
	m, names, err := b.withNames(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{entries: map[int]bool{}, moved: make(chan struct{}), names: names, machine: m}
	done := make(chan error, 1)
	go func() { done <- m.Client.Catalog().Stream(ctx, w.update) }()
	defer func() {
		cancel()
		<-done
	}()
	crashes, err := crashing(ctx, m, w)
	if err != nil {
		return err
	}
	crashes.show(b, "a task is made to crash")
	lost, err := unready(ctx, m, w)
	if err != nil {
		return err
	}
	lost.show(b, "a readiness check's bad answer")
	return nil
}

// departures holds the times that instances took to leave the traffic's directories.
type departures struct {
	all, stream, names, router times
}

func (d *departures) add(began time.Time, l *leaving) {
	d.stream = append(d.stream, l.stream.Sub(began))
	d.names = append(d.names, l.names.Sub(began))
	d.router = append(d.router, l.router.Sub(began))
	last := l.stream
	for _, t := range []time.Time{l.names, l.router} {
		if t.After(last) {
			last = t
		}
	}
	d.all = append(d.all, last.Sub(began))
}

func (d *departures) show(b *bench, what string) {
	b.add("traffic: "+what+" -> out of stream, names and router", trafficBar, "%s", d.all)
	b.add("... out of the catalog's stream", "", "%s", d.stream)
	b.add("... out of the names", "", "%s", d.names)
	b.add("... out of the router", "", "%s", d.router)
}

// A leaving is when an instance was out of each.
type leaving struct {
	stream, names, router time.Time
}

// catalogBenchmarks are the figures of the live catalog and of the name server
// alone.
func catalogBenchmarks(ctx context.Context, b *bench) error {
	f := metrics{}
	for pkg, pattern := range map[string]string{"internal/server/catalog": "^Benchmark(Flip|Untouched|Memory)$", "internal/dns": "^BenchmarkQuery$"} {
		if err := f.run(ctx, pkg, pattern, "20000x"); err != nil {
			return err
		}
	}
	return b.show(f, []figure{
		{"catalog: one of 250,000 instances comes or goes, followed by 1,000", "Flip/followers=1000", "ns/op", "ns", ""},
		{"catalog: an allocation changes and its routability does not", "Untouched", "ns/op", "ns", ""},
		{"catalog: memory of one of 250,000 instances", "Memory", "B/entry", "B", ""},
		{"names: questions over UDP, askers in the same process", "Query", "queries/s", "/s", ""},
	})
}

// withNames starts an agent whose name server's address is known.
func (b *bench) withNames(ctx context.Context) (m *machine, names string, err error) {
	if names, err = testbed.FreeAddress(); err != nil {
		return nil, "", err
	}
	tm, err := testbed.New(b.reeve)
	if err != nil {
		return nil, "", err
	}
	config := filepath.Join(tm.Dir, "dns.hcl")
	if err := os.WriteFile(config, fmt.Appendf(nil, "dns {\n  address = %q\n}\n", names), 0o600); err != nil {
		return nil, "", err
	}
	tm.Args = []string{"-dev", "-config", config}
	m = &machine{Machine: tm}
	if err = m.Start(); err == nil {
		err = m.poll(ctx, m.Ready)
	}
	if err != nil {
		m.Destroy()
		return nil, "", err
	}
	return m, names, nil
}

// watcher knows which instances the stream says are routable.
type watcher struct {
	names   string
	machine *machine

	mu      sync.Mutex
	entries map[int]bool
	left    map[int]time.Time // when the stream said so
	index   map[string]int    // of an allocation's instance
	moved   chan struct{}     // closed at the next update
}

func (w *watcher) update(u *api.CatalogUpdate) error {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if u.Complete {
		w.entries, w.index, w.left = map[int]bool{}, map[string]int{}, map[int]time.Time{}
	}
	for _, e := range u.Entries {
		w.entries[e.Instance], w.index[e.AllocID] = true, e.Instance
	}
	for _, id := range u.Removed {
		delete(w.entries, w.index[id])
		w.left[w.index[id]] = now
	}
	close(w.moved)
	w.moved = make(chan struct{})
	return nil
}

// until waits for a condition of what the stream has said.
func (w *watcher) until(ctx context.Context, what string, ok func() bool) error {
	late := time.After(time.Minute)
	for {
		w.mu.Lock()
		is, moved := ok(), w.moved
		w.mu.Unlock()
		if is {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
			return fmt.Errorf("%s: not within a minute", what)
		}
	}
}

// gone waits until stream, names and router have not known an instance since a
// time.
func (w *watcher) gone(ctx context.Context, job string, i int, since time.Time) (*leaving, error) {
	if err := w.until(ctx, fmt.Sprintf("instance %d is out", i), func() bool { return w.left[i].After(since) }); err != nil {
		return nil, err
	}
	w.mu.Lock()
	l := &leaving{stream: w.left[i]}
	w.mu.Unlock()
	var wg sync.WaitGroup
	var namesErr, routerErr error
	wg.Go(func() { l.names, namesErr = w.unnamed(ctx, job, i) })
	wg.Go(func() { l.router, routerErr = w.unrouted(ctx, job, i) })
	wg.Wait()
	return l, errors.Join(namesErr, routerErr)
}

// unnamed is when the name server does not know an instance.
func (w *watcher) unnamed(ctx context.Context, job string, i int) (time.Time, error) {
	q := new(dns.Msg)
	q.SetQuestion(fmt.Sprintf("%d.main.%s.default.inst.reeve.", i, job), dns.TypeA)
	for {
		m, _, err := new(dns.Client).ExchangeContext(ctx, q, w.names)
		if err != nil || m.Rcode == dns.RcodeNameError {
			return time.Now(), err
		}
	}
}

// unrouted is when the router leads nobody to an instance.
func (w *watcher) unrouted(ctx context.Context, job string, i int) (time.Time, error) {
	for {
		s, err := w.machine.Client.Status().Router(ctx)
		if err != nil {
			return time.Time{}, err
		}
		now := time.Now()
		known := false
		for _, r := range s.Routes {
			for _, instance := range r.Instances {
				w.mu.Lock()
				at, ok := w.index[instance.AllocID]
				w.mu.Unlock()
				known = known || ok && at == i && slices.Contains(r.Jobs, "default/"+job)
			}
		}
		if !known {
			return now, nil
		}
	}
}

// offered has a job's instances offer a service, behind a route.
func offered(job *api.Job, checks ...*api.Check) {
	g := job.Groups[0]
	g.Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}}}}
	g.Routes = []*api.Route{{Host: job.ID + ".test", Port: "http"}}
	g.Services = []*api.Service{{Name: job.ID, Provider: "nomad", PortLabel: "http", Checks: checks}}
}

// crashing has tasks end that should not, one at a time.
func crashing(ctx context.Context, m *machine, w *watcher) (*departures, error) {
	took := &departures{}
	pipe := func(i int) string { return filepath.Join(m.Dir, "crash-"+strconv.Itoa(i)) }
	for i := range trafficInstances {
		if err := syscall.Mkfifo(pipe(i), 0o600); err != nil {
			return nil, err
		}
	}
	job := testbed.ShellJob("crashing", trafficInstances, `read word < "`+filepath.Join(m.Dir, "crash-")+`$NOMAD_ALLOC_INDEX"; exit 1`)
	attempts, delay, interval, mode := 1000, 500*time.Millisecond, time.Hour, "delay"
	job.Groups[0].Restart = &api.Restart{Attempts: &attempts, Delay: &delay, Interval: &interval, Mode: &mode}
	offered(job)
	if err := register(ctx, m, job); err != nil {
		return nil, err
	}
	for range trafficRounds {
		for i := range trafficInstances {
			if err := w.until(ctx, "all are in", func() bool { return len(w.entries) == trafficInstances }); err != nil {
				return nil, err
			}
			f, err := os.OpenFile(pipe(i), os.O_WRONLY, 0) // once the task reads it
			if err != nil {
				return nil, err
			}
			began := time.Now()
			if _, err := f.WriteString("now\n"); err != nil {
				return nil, err
			}
			f.Close()
			left, err := w.gone(ctx, job.ID, i, began)
			if err != nil {
				return nil, err
			}
			took.add(began, left)
		}
	}
	return took, m.stopped(ctx, w, job.ID)
}

// unready has readiness checks fail, each at its own time within a second.
func unready(ctx context.Context, m *machine, w *watcher) (*departures, error) {
	took := &departures{}
	var well atomic.Bool
	var failed [trafficInstances]atomic.Int64 // when an instance's check first failed
	well.Store(true)
	probed := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/")); err == nil && i < len(failed) && !well.Load() {
			failed[i].CompareAndSwap(0, time.Now().UnixNano())
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer probed.Close()
	_, port, err := net.SplitHostPort(probed.Listener.Addr().String())
	if err != nil {
		return nil, err
	}
	job := testbed.ShellJob("unready", trafficInstances, "exec sleep 100000")
	offered(job, &api.Check{Name: "ready", Type: "http", Path: "/${NOMAD_ALLOC_INDEX}", PortLabel: port, Kind: api.CheckKindReadiness, Interval: time.Second, Timeout: time.Second})
	if err := register(ctx, m, job); err != nil {
		return nil, err
	}
	for range trafficRounds {
		if err := w.until(ctx, "all are ready", func() bool { return len(w.entries) == trafficInstances }); err != nil {
			return nil, err
		}
		for i := range failed {
			failed[i].Store(0)
		}
		began := time.Now()
		well.Store(false)
		var out [trafficInstances]*leaving
		var errs [trafficInstances]error
		var wg sync.WaitGroup
		for i := range trafficInstances {
			wg.Go(func() { out[i], errs[i] = w.gone(ctx, job.ID, i, began) })
		}
		wg.Wait()
		well.Store(true)
		for i := range trafficInstances {
			if errs[i] != nil {
				return nil, errs[i]
			}
			took.add(time.Unix(0, failed[i].Load()), out[i])
		}
	}
	return took, m.stopped(ctx, w, job.ID)
}

// stopped stops a job and waits until nothing of it is in the catalog.
func (m *machine) stopped(ctx context.Context, w *watcher, id string) error {
	if _, err := m.Client.Jobs().Deregister(ctx, id, purge); err != nil {
		return err
	}
	return w.until(ctx, id+" is out", func() bool { return len(w.entries) == 0 })
}
