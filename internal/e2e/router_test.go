// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// routedJob is a service of three instances behind the router: traffic comes
// when its readiness check passes, and it leaves the router before it is told
// to stop.
func routedJob(reeve, version string) *api.Job {
	job := testbed.Job("web", "raw_exec", 3, map[string]any{"command": reeve, "args": []string{"example-web"}})
	g := job.Groups[0]
	g.Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}}}}
	g.Routes = []*api.Route{{Host: "web.test", Port: "http"}}
	g.Update.MaxParallel, g.Update.MinHealthyTime = ptr(1), ptr(100*time.Millisecond)
	g.Restart = &api.Restart{Attempts: ptr(100), Interval: ptr(time.Hour), Delay: ptr(200 * time.Millisecond), Mode: ptr("delay")}
	g.ShutdownDelay = ptr(500 * time.Millisecond)
	g.Tasks[0].Env = map[string]string{"VERSION": version}
	g.Tasks[0].Resources = &api.Resources{CPU: ptr(10), MemoryMB: ptr(32)}
	g.Services = []*api.Service{{Name: "web", PortLabel: "http", Provider: "nomad", Checks: []*api.Check{{
		Name: "ready", Type: "http", Kind: api.CheckKindReadiness, Path: "/healthz", Interval: time.Second, Timeout: time.Second,
	}}}}
	return job
}

// hammer is clients that ask the router all the time.
type hammer struct {
	sent, lost atomic.Int64
	mu         sync.Mutex
	first      string
	stop       func()
}

func (m *machine) hammer(clients int) *hammer {
	m.t.Helper()
	s, err := m.Client.Status().Router(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	return hammerWith(m.t, clients, func(client *http.Client) error { return askOnce(client, s.HTTP) })
}

// hammerWith is clients that ask all the time.
func hammerWith(t *testing.T, clients int, ask func(*http.Client) error) *hammer {
	t.Helper()
	h := &hammer{}
	var ended atomic.Bool
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			// Half of the clients keep their connections.
			transport := &http.Transport{DisableKeepAlives: i%2 == 1}
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport, Timeout: patience}
			// At a pace: on a machine that has nothing left, what is tested is its
			// scheduler.
			for ; !ended.Load(); h.sent.Add(1) {
				wait.Pass(context.Background(), 4*time.Millisecond)
				if err := ask(client); err != nil {
					h.lost.Add(1)
					h.mu.Lock()
					if h.first == "" {
						h.first = time.Now().Format(time.TimeOnly) + " " + err.Error()
					}
					h.mu.Unlock()
				}
			}
		})
	}
	h.stop = sync.OnceFunc(func() {
		ended.Store(true)
		wg.Wait()
	})
	t.Cleanup(h.stop)
	return h
}

func askOnce(client *http.Client, addr string) error { return askFor(client, addr, "web.test") }

// askFor asks the router at an address for a host.
func askFor(client *http.Client, addr, host string) error {
	_, err := textFor(client, addr, host)
	return err
}

// textFor asks the router at an address for a host, and returns the answer.
func textFor(client *http.Client, addr, host string) (string, error) {
	q, err := http.NewRequest(http.MethodGet, "http://"+addr+"/", nil)
	if err != nil {
		return "", err
	}
	q.Host = host
	resp, err := client.Do(q)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, text)
	}
	return string(text), err
}

func (m *machine) deployed(version string) {
	m.t.Helper()
	m.register(routedJob(m.Reeve, version))
	m.eventually("version "+version+" is deployed and routed", func(ctx context.Context) error {
		d, _, err := m.Client.Jobs().LatestDeployment(ctx, "web", nil)
		if err != nil {
			return err
		}
		job, _, err := m.Client.Jobs().Get(ctx, "web", nil)
		if err != nil {
			return err
		}
		if d == nil || d.Status != api.DeploymentSuccessful || d.JobVersion != job.Version {
			return fmt.Errorf("deployment: %+v", d)
		}
		return m.routed(ctx, 3)
	})
}

// routed reports whether the router leads to n instances.
func (m *machine) routed(ctx context.Context, n int) error {
	s, err := m.Client.Status().Router(ctx)
	if err != nil {
		return err
	}
	if len(s.Routes) != 1 || len(s.Routes[0].Instances) != n {
		return fmt.Errorf("routes: %+v", s.Routes)
	}
	return nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// underLoad is how long instances are replaced one after another; the benchmark
// "rolling" does so for a minute.
const underLoad = 8 * time.Second

func TestRollingUpdatesUnderLoadLoseNoRequest(t *testing.T) {
	m := newMachine(t)
	m.deployed("1")
	h := m.hammer(8)
	n := 1
	for end := wait.Limit(t, underLoad); !isClosed(end); {
		n++
		m.deployed(fmt.Sprint(n))
	}
	h.stop()
	t.Logf("%d requests, %d rolling updates of three instances", h.sent.Load(), n-1)
	if h.lost.Load() > 0 {
		t.Errorf("%d of %d requests were lost, the first one: %s", h.lost.Load(), h.sent.Load(), h.first)
	}
}

// servers are the processes of the instances.
func (m *machine) servers() []int {
	return slices.DeleteFunc(m.Processes(), func(pid int) bool { return !slices.Contains(testbed.CommandLine(pid), "example-web") })
}

// An instance that is killed takes with it what it was working on, at most; and
// that only when the request may not be repeated.
func TestAKilledInstanceLosesNothingElse(t *testing.T) {
	m := newMachine(t)
	m.deployed("1")
	h := m.hammer(8)
	for range 5 {
		before := h.sent.Load()
		m.eventually("requests are answered", func(context.Context) error {
			if h.sent.Load() < before+200 {
				return fmt.Errorf("%d requests", h.sent.Load()-before)
			}
			return nil
		})
		killed := m.servers()[0]
		if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		m.eventually("another one is in its place", func(ctx context.Context) error {
			if pids := m.servers(); len(pids) != 3 || slices.Contains(pids, killed) {
				return fmt.Errorf("processes %v; %d was killed", pids, killed)
			}
			return m.routed(ctx, 3)
		})
	}
	h.stop()
	t.Logf("%d requests, %d lost", h.sent.Load(), h.lost.Load())
	if h.lost.Load() > 0 {
		t.Errorf("%d of %d requests were lost that could be repeated, the first one: %s", h.lost.Load(), h.sent.Load(), h.first)
	}
}
