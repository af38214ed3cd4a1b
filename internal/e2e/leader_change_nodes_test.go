// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/network"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// A lookout watches the traffic to a job from one host, until the end of the test.
type lookout struct {
	host *network.Host

	mu      sync.Mutex
	changes []string // of the catalog, since the first complete message
	names   int      // answers of the name server
	asked   int      // requests through the router
	wrong   []string // answers that differ
}

// lookOut begins to watch, from the host of an agent, a job with n instances.
func (m *members) lookOut(ctx context.Context, from *machine, n int) *lookout {
	m.t.Helper()
	l := &lookout{host: m.net.Hosts()[slices.Index(m.all, from)]}
	var watches sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	m.t.Cleanup(func() { cancel(); watches.Wait() })
	complete := make(chan struct{})
	watches.Go(func() {
		seen := false
		err := from.Client.Catalog().Stream(ctx, func(u *api.CatalogUpdate) error {
			switch {
			case !seen:
				seen = true
				close(complete)
			case u.Complete || len(u.Entries) > 0 || len(u.Removed) > 0:
				text, _ := json.Marshal(u)
				l.mu.Lock()
				defer l.mu.Unlock()
				l.changes = append(l.changes, string(text))
			}
			return nil
		})
		if ctx.Err() == nil {
			l.note("the catalog's stream ended with %v", err)
		}
	})
	<-complete
	watches.Go(func() { l.askNames(ctx, n) })
	web := &http.Client{Transport: &http.Transport{DialContext: l.host.Dial, DisableKeepAlives: true}, Timeout: patience}
	watches.Go(func() {
		for ; ctx.Err() == nil; wait.Pass(ctx, 10*time.Millisecond) {
			if err := askFor(web, "127.0.0.1:8080", "web.test"); err != nil && ctx.Err() == nil {
				l.note("the router: %v", err)
			}
			l.mu.Lock()
			l.asked++
			l.mu.Unlock()
		}
	})
	return l
}

func (l *lookout) askNames(ctx context.Context, n int) {
	c := &dns.Client{Timeout: patience}
	conn, err := l.host.Dial(ctx, "udp", "127.0.0.1:8600")
	if err != nil {
		l.note("the name server: %v", err)
		return
	}
	defer conn.Close()
	for ; ctx.Err() == nil; wait.Pass(ctx, 10*time.Millisecond) {
		q := new(dns.Msg)
		q.SetQuestion("web.default.svc.reeve.", dns.TypeA)
		answer, _, err := c.ExchangeWithConn(q, &dns.Conn{Conn: conn})
		if err != nil || len(answer.Answer) != n {
			l.note("the name server: %v, %v", answer, err)
			return
		}
		l.mu.Lock()
		l.names++
		l.mu.Unlock()
	}
}

func (l *lookout) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.wrong) < 10 {
		l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
	}
}

// TestAChangeOfLeaderIsNoEvent runs checked instances on five nodes, and kills the leader. Until the
// next one has worked for some rounds of checks, no instance, check, name, route or node changes.
func TestAChangeOfLeaderIsNoEvent(t *testing.T) {
	m := newMembers(t, 5)
	config := writeConfig(t, "dns {\n  enabled = true\n}\n")
	for _, a := range m.all {
		a.Args = append(a.Args, "-router", "-config", config)
	}
	m.form()
	m.all[0].eventually("all nodes are ready", readyNodes(m.all[0], 5))
	job := routedJob(reeve, "1")
	job.Groups[0].Count = ptr(5)
	job.Groups[0].Update.MaxParallel = ptr(5)
	job.Constraints = []*api.Constraint{{Operand: "distinct_hosts", RTarget: "true"}}
	check := *job.Groups[0].Services[0].Checks[0]
	check.Name, check.Kind, check.Path = "lives", api.CheckKindLiveness, "/"
	job.Groups[0].Services[0].Checks = append(job.Groups[0].Services[0].Checks, &check)
	m.all[0].put(job)
	before := m.all[0].allocations("web", "runs", running(5))
	leader := m.leader(m.all[0])
	rest := m.other(leader)
	for _, a := range m.all {
		a.eventually("the router knows all instances", func(ctx context.Context) error { return a.routed(ctx, 5) })
	}
	rest.eventually("the deployment is complete", func(ctx context.Context) error {
		d, _, err := rest.Client.Jobs().LatestDeployment(ctx, "web", nil)
		if err != nil || d.Status != api.DeploymentSuccessful {
			return fmt.Errorf("deployment %+v: %v", d, err)
		}
		return nil
	})
	tasks := m.tasks()
	var lookouts []*lookout
	for _, a := range m.all {
		if a != leader {
			lookouts = append(lookouts, m.lookOut(t.Context(), a, 5))
		}
	}
	servers, err := rest.Client.Servers().List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var end uint64 // of the log
	for _, s := range servers {
		end = max(end, s.LastIndex)
	}
	events := m.follow(rest, end+1)

	leader.Kill()
	killed := time.Now()
	rest.put(sleeper("written", 0))
	t.Logf("a write is acknowledged %s after the leader's death", time.Since(killed).Round(time.Millisecond))
	wait.Pass(t.Context(), 4*time.Second) // of checks, at an interval of a second
	for _, e := range events() {
		if e.Topic != api.TopicJob && e.Topic != api.TopicEvaluation || e.Key == "web" {
			t.Errorf("event %s of %s %s: %v", e.Type, e.Topic, e.Key, e.Payload)
		}
	}
	for _, l := range lookouts {
		l.mu.Lock()
		if len(l.changes)+len(l.wrong) > 0 || l.names == 0 || l.asked == 0 {
			t.Errorf("seen from %s after %d names and %d requests: changes of the catalog %q, wrong answers %q", l.host.Addr, l.names, l.asked, l.changes, l.wrong)
		}
		l.mu.Unlock()
	}
	after := rest.allocations("web", "runs", running(5))
	if ids(before) != ids(after) || !slices.Equal(m.tasks(), tasks) {
		t.Errorf("allocations before %s, after %s; processes before %v, after %v", ids(before), ids(after), tasks, m.tasks())
	}
	for _, a := range after {
		for name, s := range a.TaskStates {
			if s.Restarts > 0 {
				t.Errorf("task %s of %s was restarted %d times", name, a.Name, s.Restarts)
			}
		}
	}
}

// follow follows the event stream of a server, and returns what it has received.
func (m *members) follow(a *machine, index uint64) (received func() []*api.Event) {
	m.t.Helper()
	ctx, cancel := context.WithCancel(m.t.Context())
	host := m.net.Hosts()[slices.Index(m.all, a)]
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+testbed.MemberPort+"/v1/event/stream?topic=*&index="+strconv.FormatUint(index, 10), nil)
	if err != nil {
		m.t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DialContext: host.Dial}}).Do(r)
	if err != nil {
		m.t.Fatal(err)
	}
	var mu sync.Mutex
	var events []*api.Event
	done := make(chan struct{})
	go func() {
		defer close(done)
		for messages := json.NewDecoder(resp.Body); ; {
			var batch api.EventBatch
			if err := messages.Decode(&batch); err != nil {
				if ctx.Err() == nil {
					m.t.Errorf("the event stream ended with %v", err)
				}
				return
			}
			mu.Lock()
			events = append(events, batch.Events...)
			mu.Unlock()
		}
	}()
	m.t.Cleanup(func() { cancel(); <-done; resp.Body.Close() })
	return func() []*api.Event {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(events)
	}
}
