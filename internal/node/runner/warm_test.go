// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A warmed instance listens on pipes and counts requests.
type warmed struct {
	conns    chan net.Conn
	status   atomic.Int64
	received atomic.Int64
}

// warmable returns an allocation of a stack that wants 20 requests over 20 s for two instances,
// and the instance.
func (b *bench) warmable() (*api.Allocation, *warmed) {
	a := allocation("service", taskSpec("main", policy(3, "fail")))
	a.Job.ID = "web--1-0-0--aaaaaaaa"
	a.Job.Stack = &api.StackSpec{Version: "1.0.0", Warm: &api.WarmUp{HTTP: []*api.WarmRequests{{Path: "/warm", Requests: 39, Over: 20 * time.Second}}}}
	a.Job.Groups[0].Count = ptr(2)
	a.Job.Groups[0].Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}}}}
	a.AllocatedResources = &api.AllocatedResources{Shared: api.AllocatedShared{Ports: []api.PortMapping{{Label: "http", Value: 20001, HostIP: "127.0.0.1"}}}}
	a.DeploymentID = "d1"
	a.Job.Groups[0].Update.MinHealthyTime = ptr(5 * time.Second)
	a.Job.Groups[0].Update.HealthCheck = ptr(api.HealthCheckChecks)

	w := &warmed{conns: make(chan net.Conn)}
	w.status.Store(http.StatusOK)
	server := &http.Server{Handler: http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		w.received.Add(1)
		out.WriteHeader(int(w.status.Load()))
	})}
	go server.Serve(w)
	b.Cleanup(func() { server.Close() })
	b.host.Dial = func(ctx context.Context, _, address string) (net.Conn, error) {
		if address != "127.0.0.1:20001" {
			return nil, errors.New("connection refused")
		}
		ours, theirs := net.Pipe()
		select {
		case w.conns <- theirs:
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return a, w
}

func (w *warmed) Accept() (net.Conn, error) {
	conn, ok := <-w.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (w *warmed) Close() error   { close(w.conns); return nil }
func (w *warmed) Addr() net.Addr { return &net.TCPAddr{} }

func healthy(r *Runner) *bool {
	if d := r.Report().DeploymentStatus; d != nil {
		return d.Healthy
	}
	return nil
}

func TestInstanceIsReadyAfterItsWarmUp(t *testing.T) {
	inBubble(t, func(b *bench) {
		a, w := b.warmable()
		r := b.start(a)
		b.pass(time.Second)
		b.serves(r, true, false, "warming: 0 of 20 requests")
		w.status.Store(http.StatusInternalServerError)
		b.pass(10 * time.Second)
		b.serves(r, true, false, r.Report().Serving.Warm.String())
		if p := r.Report().Serving.Warm; p.Sent < 8 || p.Sent > 12 || p.Failed < 7 || p.Done {
			t.Errorf("after 11 s: %+v, want about half of the requests, and failures", p)
		}
		if healthy(r) != nil {
			t.Error("the allocation's health was decided during the warm-up")
		}
		b.pass(10 * time.Second)
		b.serves(r, true, true, "")
		if p := r.Report().Serving.Warm; p.Sent != 20 || !p.Done || w.received.Load() != 20 {
			t.Errorf("after the warm-up: %+v, and %d requests, want 20", p, w.received.Load())
		}
		b.pass(2 * time.Second)
		if healthy(r) != nil {
			t.Error("min_healthy_time does not begin after the warm-up")
		}
		b.pass(3 * time.Second)
		if h := healthy(r); h == nil || !*h {
			t.Errorf("health: %v, want that failures of the warm-up do not decide it", h)
		}
		var told []string
		for _, line := range story(r, "main") {
			if strings.HasPrefix(line, "Warm") {
				told = append(told, line)
			}
		}
		b.want("events", []string{
			"Warming: Sending 20 requests to /warm over 20s",
			"Warmed Up: 20 requests in 19s, 18 failed, the last: GET /warm: status 500",
		}, told)

		b.pass(time.Hour)
		if w.received.Load() != 20 {
			t.Errorf("a warm instance received %d more requests", w.received.Load()-20)
		}
	})
}

func TestWarmUpBeginsAgainWithTheProcess(t *testing.T) {
	inBubble(t, func(b *bench) {
		a, w := b.warmable()
		r := b.start(a)
		b.pass(time.Minute)
		b.serves(r, true, true, "")
		b.driver.Process("main").Exit(1)
		b.pass(2 * time.Second)
		if s := r.Report().Serving; s.Up || s.Warm != nil && s.Warm.Sent < 20 {
			t.Errorf("after the crash: %+v", s)
		}
		b.pass(20 * time.Second)
		if s := r.Report().Serving; s.Routable || s.Warm == nil || s.Warm.Done {
			t.Errorf("after the restart: %+v, want that it is warmed again", s)
		}
		b.pass(time.Minute)
		b.serves(r, true, true, "")
		if w.received.Load() != 40 {
			t.Errorf("the instance received %d requests, want 20 for each process", w.received.Load())
		}
	})
}

func TestWarmInstanceStaysWarmUnderTheNextAgent(t *testing.T) {
	inBubble(t, func(b *bench) {
		a, w := b.warmable()
		b.start(a)
		b.pass(time.Minute)
		dial := b.host.Dial
		b.close()

		b.open()
		b.host.Dial = dial
		r := b.restore(a.Job)
		b.pass(time.Minute)
		b.serves(r, true, true, "")
		if w.received.Load() != 20 {
			t.Errorf("the instance received %d requests, want none from the next agent", w.received.Load()-20)
		}
	})
}

func TestWarmUpEndsWithTheAllocation(t *testing.T) {
	inBubble(t, func(b *bench) {
		a, w := b.warmable()
		r := b.start(a)
		b.pass(5 * time.Second)
		r.Stop("stopped", true)
		b.pass(30 * time.Second)
		if w.received.Load() > 6 {
			t.Errorf("a stopped instance received %d requests", w.received.Load())
		}
	})
}

func TestInstanceOfAStackServesWithoutServices(t *testing.T) {
	inBubble(t, func(b *bench) {
		a, _ := b.warmable()
		a.Job.Stack.Warm = nil
		r := b.start(a)
		b.pass(time.Second)
		b.serves(r, true, true, "")
	})
}

func TestOnlyTheGroupWithThePortIsWarmed(t *testing.T) {
	inBubble(t, func(b *bench) {
		a, w := b.warmable()
		a.Job.Groups = append(a.Job.Groups, &api.Group{Name: "other", Tasks: []*api.Task{taskSpec("side")}})
		a.Group, a.AllocatedResources = "other", nil
		r := b.start(a)
		b.pass(time.Minute)
		if s := r.Report().Serving; s != nil && s.Warm != nil || w.received.Load() > 0 {
			t.Errorf("the group without the port: %+v, and %d requests", s, w.received.Load())
		}
	})
}
