// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/drivertest"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// patient is a web server that is as well as it is told; it says when it was
// asked.
type patient struct {
	port  string
	ill   atomic.Bool
	asked chan time.Time // when it answered that it is ill; nobody need listen
}

func newPatient(t testing.TB) *patient {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &patient{asked: make(chan time.Time, 1)}
	_, p.port, _ = net.SplitHostPort(l.Addr().String())
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if p.ill.Load() {
			select {
			case p.asked <- time.Now():
			default:
			}
			http.Error(w, "I am ill", http.StatusServiceUnavailable)
		}
	})}
	served := make(chan struct{})
	go func() { defer close(served); web.Serve(l) }()
	t.Cleanup(func() { web.Close(); <-served })
	return p
}

// service offers the patient's port with a check of a kind.
func (p *patient) service(kind string) []*api.Service {
	return []*api.Service{{Name: "web", PortLabel: p.port, Checks: []*api.Check{{
		Name: "up", Type: api.CheckHTTP, Path: "/", Kind: kind, Interval: 50 * time.Millisecond, Timeout: time.Second,
	}}}}
}

// serving waits until the servers were told that.
func (s *fakeServers) serving(t testing.TB, id string, is func(*api.Serving) bool) *api.Serving {
	t.Helper()
	deadline := wait.Limit(t, 30*time.Second)
	for {
		s.mu.Lock()
		a, changed := s.latest[id], s.changed
		s.mu.Unlock()
		if a != nil && a.Serving != nil && is(a.Serving) {
			return a.Serving
		}
		select {
		case <-changed:
		case <-deadline:
			if a == nil {
				t.Fatalf("allocation %s: the servers were told nothing", id)
			}
			t.Fatalf("allocation %s is %s: the servers were last told that it serves: %+v", id, a.ClientStatus, a.Serving)
		}
	}
}

func routable(s *api.Serving) bool   { return s.Routable }
func unroutable(s *api.Serving) bool { return !s.Routable }

func TestRealLivenessOfAProcess(t *testing.T) {
	r, p := runReal(t), newPatient(t)
	task := shell("t", "exec sleep 60")
	delay := 10 * time.Millisecond
	task.Restart = &api.Restart{Delay: &delay}
	task.Services = p.service(api.CheckKindLiveness)
	r.place(t, jobOf("service", task), "one")
	r.servers.serving(t, "one", routable)
	first := pidOf(t, r.running, "one")

	p.ill.Store(true)
	r.servers.serving(t, "one", func(s *api.Serving) bool { return !s.Up })
	p.ill.Store(false)
	r.servers.serving(t, "one", routable)
	if again := pidOf(t, r.running, "one"); again == first {
		t.Errorf("process %d goes on", first)
	}
	state := r.servers.last("one").TaskStates["t"]
	i := slices.IndexFunc(state.Events, func(e *api.TaskEvent) bool { return e.Type == api.EventCheckUnhealthy })
	if i < 0 {
		t.Fatalf("no event says why: %+v", state.Events)
	}
	words := state.Events[i].DisplayMessage
	for _, part := range []string{"Became unhealthy after ", `liveness check "up" of service "web" failed: http: GET http://127.0.0.1:` + p.port + "/: 503 Service Unavailable in ", ": I am ill"} {
		if !strings.Contains(words, part) {
			t.Errorf("the reason is %q, want %q in it", words, part)
		}
	}
}

func TestRealAProcessThatIsNeverHealthy(t *testing.T) {
	r := runReal(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().(*net.TCPAddr).Port
	l.Close()
	task := shell("t", "exec sleep 60")
	none := 0
	task.Restart = &api.Restart{Attempts: &none}
	task.Services = []*api.Service{{Name: "db", PortLabel: fmt.Sprint(nobody), Checks: []*api.Check{{
		Name: "accepts", Type: api.CheckTCP, Kind: api.CheckKindLiveness, Interval: time.Second, Timeout: time.Second, StartTimeout: 300 * time.Millisecond,
	}}}}
	r.place(t, jobOf("service", task), "one")
	r.servers.until(t, api.AllocClientFailed, 1)
	events := r.servers.last("one").TaskStates["t"].Events
	words := events[len(events)-1].DisplayMessage
	begin := `Never healthy: liveness check "accepts" of service "db" did not pass within 300ms of the start (asked `
	end := fmt.Sprintf(" times): tcp: connect to 127.0.0.1:%d: connection refused, not restarting: the restart policy allows no attempts", nobody)
	if !strings.HasPrefix(words, begin) || !strings.HasSuffix(words, end) {
		t.Errorf("the last event is %q, want it to begin with %q and to end with %q", words, begin, end)
	}
}

// A monitor is asked inside the task: what it finds there decides.
func TestRealMonitorOfAProcess(t *testing.T) {
	r := runReal(t)
	task := shell("t", "touch $NOMAD_TASK_DIR/well; exec sleep 60")
	delay := 10 * time.Millisecond
	task.Restart = &api.Restart{Delay: &delay}
	task.Monitor = &api.Monitor{Command: "/bin/sh", Args: []string{"-c", "test -e ${NOMAD_TASK_DIR}/well || { echo it is gone; exit 3; }"}, Interval: 50 * time.Millisecond, Timeout: 5 * time.Second}
	r.place(t, jobOf("service", task), "one")
	r.servers.serving(t, "one", routable)
	if err := os.Remove(filepath.Join(r.dirs.Task("one", "t").Local, "well")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the task is restarted", func() bool { return r.servers.last("one").TaskStates["t"].Restarts == 1 })
	r.servers.serving(t, "one", routable) // it made its file again
	events := r.servers.last("one").TaskStates["t"].Events
	if i := slices.IndexFunc(events, func(e *api.TaskEvent) bool {
		return e.Type == api.EventCheckUnhealthy && strings.Contains(e.DisplayMessage, `: monitor of task "t" failed: script: /bin/sh: exit code 3 in `) &&
			strings.HasSuffix(e.DisplayMessage, ": it is gone")
	}); i < 0 {
		t.Errorf("no event says so: %+v", events)
	}
}

// What is told to stop is out of the router first; then shutdown_delay passes
// while it still serves, then comes the signal, and after kill_timeout the end.
func TestRealDrainingOrderOfAProcess(t *testing.T) {
	r, p := runReal(t), newPatient(t)
	task := shell("t", `trap 'date +%s%N > $NOMAD_ALLOC_DIR/signaled' TERM; while :; do sleep 0.01; done`)
	timeout, delay := 400*time.Millisecond, 300*time.Millisecond
	task.KillSignal, task.KillTimeout = "SIGTERM", &timeout
	task.Services = p.service(api.CheckKindReadiness)
	j := jobOf("service", task)
	j.Groups[0].ShutdownDelay = &delay
	r.place(t, j, "one")
	r.servers.serving(t, "one", routable)

	stop := placed(j, false, "one")
	stop.Allocations[0].DesiredStatus, stop.Allocations[0].AllocModifyIndex = api.AllocDesiredStop, 2
	begun := time.Now()
	r.servers.messages <- stop
	out := r.servers.serving(t, "one", unroutable)
	want(t, "why no traffic comes", "it is about to stop (shutdown_delay)", out.Reason)
	if !out.Up {
		t.Error("it is not up any more before it was signaled")
	}
	told := time.Unix(0, out.Since)
	r.servers.until(t, api.AllocClientComplete, 1)
	ended := time.Now()
	text, err := os.ReadFile(filepath.Join(r.dirs.Root("one"), "alloc", "signaled"))
	if err != nil {
		t.Fatal(err)
	}
	var ns int64
	if _, err := fmt.Sscan(string(text), &ns); err != nil {
		t.Fatal(err)
	}
	signaled := time.Unix(0, ns)
	if told.Before(begun) || signaled.Sub(told) < delay || ended.Sub(signaled) < timeout-50*time.Millisecond {
		t.Errorf("out of traffic after %s, signaled %s later (want %s), ended %s later (want %s)",
			told.Sub(begun), signaled.Sub(told), delay, ended.Sub(signaled), timeout)
	}
}

// BenchmarkFlipOfReadiness measures from the answer that an instance is ill until
// the servers have been told that no traffic is to come.
func BenchmarkFlipOfReadiness(b *testing.B) {
	p, s := newPatient(b), newServers()
	n := run(b, b.TempDir(), s, map[string]driver.Driver{"fake": drivertest.New()})
	defer n.stop()
	task := &api.Task{Name: "t", Driver: "fake", Services: p.service(api.CheckKindReadiness)}
	s.messages <- placed(jobOf("service", task), false, "one")
	var took []time.Duration
	for range b.N {
		s.serving(b, "one", routable)
		p.ill.Store(true)
		at := <-p.asked
		s.serving(b, "one", unroutable)
		took = append(took, time.Since(at))
		p.ill.Store(false)
		select {
		case <-p.asked: // it was asked twice
		default:
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/1e6, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100])/1e6, "p99-ms")
}
