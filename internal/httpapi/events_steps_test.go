// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// A stepReader reads a stream within a bubble.
type stepReader struct {
	w      *httptest.ResponseRecorder
	cancel context.CancelFunc
	done   chan struct{}
}

func readSteps(t *testing.T, h *Handler, query string) *stepReader {
	ctx, cancel := context.WithCancel(t.Context())
	f := &stepReader{w: httptest.NewRecorder(), cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		h.ServeHTTP(f.w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/event/stream?"+query, nil))
	}()
	synctest.Wait()
	return f
}

// end closes the stream, and returns its messages without heartbeats.
func (f *stepReader) end(t *testing.T) (batches []*api.EventBatch) {
	t.Helper()
	f.cancel()
	<-f.done
	for line := range strings.Lines(f.w.Body.String()) {
		b := &api.EventBatch{}
		if err := json.Unmarshal([]byte(line), b); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if b.Index > 0 {
			batches = append(batches, b)
		}
	}
	return batches
}

// stepTypes returns the events of steps as "type key status".
func stepTypes(t *testing.T, batches []*api.EventBatch) (all []string) {
	t.Helper()
	for _, b := range batches {
		for _, e := range b.Events {
			if e.Topic != api.TopicStep {
				continue
			}
			var s api.StepState
			data, _ := json.Marshal(e.Payload[api.TopicStep])
			if err := json.Unmarshal(data, &s); err != nil || s.Key() != e.Key {
				t.Fatalf("%v: the payload %s is not of %s", err, data, e.Key)
			}
			all = append(all, fmt.Sprintf("%s %s %s", e.Type, e.Key, s.Status))
		}
	}
	return all
}

// place places the only instance of a job, and returns its allocation.
func (s *idleServer) place(t *testing.T, job string) *api.Allocation {
	t.Helper()
	stored := s.Store().Snapshot().Job("default", job)
	a := &api.Allocation{ID: api.NewID(), Namespace: "default", JobID: job, Job: stored, NodeID: testNode, Name: api.AllocName(job, "web", 0), Group: "web",
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending}
	s.apply(t, &state.CommitPlacement{Placement: &state.Placement{Job: stored, Time: 1, Place: []*api.Allocation{a}}})
	return a
}

func TestEventsOfSteps(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		srv := newIdleServer(t)
		h := New(Config{Server: srv.Server})
		srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: testNode, Name: "n", Status: api.NodeStatusReady}})
		for _, job := range []string{"web", "web-2", "db"} {
			srv.apply(t, &state.RegisterJob{Job: storedJob(job)})
		}
		index := srv.Store().Index()
		one, phase, all, resumed := readSteps(t, h, "topic=Step:web"), readSteps(t, h, "topic=Step:web/deploy/web"), readSteps(t, h, "topic=*"), (*stepReader)(nil)
		srv.apply(t, &state.PutEvaluations{Evaluations: []*api.Evaluation{{ID: "e1", Namespace: "default", JobID: "web", Type: "service", Status: api.EvalStatusPending}}})
		<-time.After(time.Second)
		srv.place(t, "db")
		srv.place(t, "web")
		<-time.After(time.Second)
		resumed = readSteps(t, h, fmt.Sprintf("topic=Step:web&index=%d", index+1))
		idle := readSteps(t, h, fmt.Sprintf("topic=Step&index=%d", srv.Store().Index()+1))
		<-time.After(time.Second)
		const step = "web/deploy/web/web-0:[main]"
		want := []string{
			"StepSnapshot web/deploy IN_PROGRESS", "StepSnapshot web/deploy/web IN_PROGRESS", "StepSnapshot " + step + " PREPARED",
			"StepChanged web/deploy COMPLETE", "StepChanged web/deploy/web COMPLETE", "StepChanged " + step + " COMPLETE",
		}
		if diff := cmp.Diff(want, stepTypes(t, one.end(t))); diff != "" {
			t.Errorf("of a job (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{want[1], want[2], want[4], want[5]}, stepTypes(t, phase.end(t))); diff != "" {
			t.Errorf("of a phase (-want +got):\n%s", diff)
		}
		if got := stepTypes(t, all.end(t)); got != nil {
			t.Errorf("* selects %v", got)
		}
		whole := []string{"StepSnapshot web/deploy COMPLETE", "StepSnapshot web/deploy/web COMPLETE", "StepSnapshot " + step + " COMPLETE"}
		if diff := cmp.Diff(whole, stepTypes(t, resumed.end(t))); diff != "" {
			t.Errorf("after an interruption (-want +got):\n%s", diff)
		}
		if got := idle.end(t); got != nil {
			t.Errorf("without a change there are messages: %v", got)
		}
	})
}

// Many changes within an interval are one look at the plans.
func TestStepsOfManyChangesAreOneMessage(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		srv := newIdleServer(t)
		h := New(Config{Server: srv.Server})
		srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: testNode, Name: "n", Status: api.NodeStatusReady}})
		srv.apply(t, &state.RegisterJob{Job: storedJob("web")})
		f := readSteps(t, h, "topic=Step:web")
		for i := range 100 {
			job := storedJob("web")
			job.Priority = i + 1
			srv.apply(t, &state.RegisterJob{Job: job})
			synctest.Wait()
			<-time.After(time.Millisecond)
		}
		<-time.After(time.Second)
		if got := f.end(t); len(got) != 2 {
			t.Errorf("%d messages, want one immediately and one for all later changes: %v", len(got), stepTypes(t, got))
		}
	})
}

// After a snapshot and the changes, a reader has the steps of the state.
func TestSnapshotAndEventsOfStepsGiveTheState(t *testing.T) {
	for seed := range uint64(6) {
		bubble.Test(t, func(t *testing.T) {
			srv := newIdleServer(t)
			h := New(Config{Server: srv.Server})
			srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: testNode, Name: "n"}})
			w := &writer{srv: srv, rng: rand.New(rand.NewPCG(seed, 9))}
			for range 60 {
				w.write(t)
			}
			f := readSteps(t, h, "topic=Step&snapshot&namespace=*")
			for i := range 200 {
				w.write(t)
				if i%7 == 0 {
					<-time.After(150 * time.Millisecond)
				}
			}
			<-time.After(time.Second)
			got, want, types := picture{}, picture{}, map[string]int{}
			for _, b := range f.end(t) {
				got.take(t, b)
				for _, e := range b.Events {
					types[e.Type]++
				}
			}
			for i := range 4 {
				for _, s := range srv.Steps(srv.Store().Snapshot(), api.NamespacedID{Namespace: "default", ID: fmt.Sprint("job", i)}) {
					want["Step default "+s.Key()] = jsonOf(t, s)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("seed %d: the state (-) is not what was told (+):\n%s", seed, diff)
			}
			if types[api.EventTypeStepCreated] == 0 || types[api.EventTypeStepChanged] == 0 || types[api.EventTypeStepRemoved] == 0 {
				t.Errorf("seed %d: the events are %v, want some of each type", seed, types)
			}
		})
	}
}

func TestStepsNeedTheRightToReadTheirJob(t *testing.T) {
	h := newHarness(t, withUsers(t))
	if _, err := h.server.PutNamespace(t.Context(), &api.Namespace{Name: "dev"}, nil); err != nil {
		t.Fatal(err)
	}
	h.policy("dev", `namespace "dev" { policy = "read" }`)
	stranger, _ := h.user("dev")
	if got := stranger.ask(t, h.handler, http.MethodGet, "/v1/event/stream?topic=Step", ""); got.status != http.StatusForbidden {
		t.Errorf("the steps of another namespace: %d %s, want 403", got.status, got.body)
	}
	manager, _ := h.user()
	few, all := h.receive(stranger, "topic=Step&namespace=*"), h.receive(manager, "topic=Step&namespace=*")
	h.registerIn("default", "web")
	receiveUntil(t, all, "Step default web/deploy")
	h.registerIn("dev", "last")
	if got := receiveUntil(t, few, "Step dev last/deploy"); slices.ContainsFunc(got, func(e string) bool { return strings.Contains(e, "default") }) {
		t.Errorf("a stranger received %q", got)
	}
}

// BenchmarkSteps looks at a plan of 2,000 steps after one of them changed, without and with a
// reader's comparison.
func BenchmarkSteps(b *testing.B) {
	const count = 2000
	srv := newIdleServer(b)
	job := storedJob("web")
	*job.Groups[0].Count = count
	srv.apply(b, &state.RegisterNode{Node: topologyNode(testNode, "dc1", "large")}, &state.RegisterJob{Job: job})
	job = srv.Store().Snapshot().Job("default", "web")
	p := &state.Placement{Job: job, Time: 1}
	for i := range count {
		a := placed(job, api.NewID(), testNode)
		a.Name = api.AllocName("web", "web", i)
		p.Place = append(p.Place, a)
	}
	srv.apply(b, &state.CommitPlacement{Placement: p})
	b.Run("derive", func(b *testing.B) {
		for b.Loop() {
			if got := srv.Steps(srv.Store().Snapshot(), job.Key()); len(got) != count+2 {
				b.Fatalf("%d states, want %d", len(got), count+2)
			}
		}
	})
	b.Run("stream", func(b *testing.B) {
		h := New(Config{Server: srv.Server})
		ctx, cancel := context.WithCancel(b.Context())
		w := &countingRecorder{messages: make(chan int, 16)}
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/event/stream?topic=Step:web&snapshot", nil))
		}()
		for n := 0; n < 3; n++ { // the snapshot
			<-w.messages
		}
		b.ResetTimer()
		for i := range b.N {
			a := p.Place[0]
			p.Place = p.Place[1:] // each allocation fails once
			b.StopTimer()         // a reader waits between two looks
			<-time.After(300 * time.Millisecond)
			b.StartTimer()
			srv.apply(b, &state.UpdateAllocations{NodeID: testNode, Time: int64(i), Allocations: []*api.Allocation{{ID: a.ID, NodeID: testNode, ClientStatus: api.AllocClientFailed}}})
			<-w.messages
		}
		b.StopTimer()
		cancel()
		<-done
	})
}

// A countingRecorder tells the size of each message.
type countingRecorder struct {
	header   http.Header
	messages chan int
}

func (w *countingRecorder) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

func (w *countingRecorder) WriteHeader(int) {}

func (w *countingRecorder) Flush() {}

func (w *countingRecorder) Write(p []byte) (int, error) {
	if len(p) > 0 && p[len(p)-1] == '\n' && len(p) > 4 {
		w.messages <- len(p)
	}
	return len(p), nil
}
