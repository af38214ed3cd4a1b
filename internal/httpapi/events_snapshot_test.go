// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/eventstream"
	"github.com/reeve-run/reeve/internal/state"
)

// A picture is what a consumer makes of a stream: by topic, namespace and key,
// the object's JSON.
type picture map[string]string

// take does what the manual tells consumers to do with a message.
func (p *picture) take(t *testing.T, b *api.EventBatch) {
	t.Helper()
	if b.Snapshot == api.SnapshotBegin {
		*p = picture{}
	}
	for _, e := range b.Events {
		key := strings.Join([]string{e.Topic, e.Namespace, e.Key}, " ")
		switch {
		case e.Deleted:
			delete(*p, key)
		case e.Type != api.EventTypeInstanceCrashed:
			(*p)[key] = jsonOf(t, e.Payload[e.Topic])
		}
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	// A change that nothing of an instance or service can be seen of is not told.
	delete(object, "ModificationTag")
	if object["ServiceName"] != nil {
		delete(object, "ModifyIndex")
	}
	if data, err = json.Marshal(object); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// pictureOf is what a stream of everything should have said.
func pictureOf(t *testing.T, v *state.Snapshot) picture {
	t.Helper()
	p := picture{}
	for e := range eventstream.Current(v, eventstream.Selection{api.TopicAll: nil}) {
		p[strings.Join([]string{e.Topic, e.Namespace, e.Key}, " ")] = jsonOf(t, e.Payload[e.Topic])
	}
	return p
}

// writer changes the state at random, and ends with a node pool named last.
type writer struct {
	srv  *idleServer
	rng  *rand.Rand
	live []string
	n    int
}

func (w *writer) write(t *testing.T) {
	t.Helper()
	w.n++
	job := fmt.Sprint("job", w.rng.IntN(4))
	switch w.rng.IntN(8) {
	case 0:
		w.srv.apply(t, &state.RegisterJob{Job: storedJob(job)})
	case 1:
		if w.srv.Store().Snapshot().Job("default", job) != nil {
			w.srv.apply(t, &state.DeregisterJob{Namespace: "default", ID: job, Purge: w.rng.IntN(2) == 0, Time: int64(w.n)})
		}
	case 2:
		w.srv.apply(t, &state.PutDomain{Domain: "cf"}, &state.PutNodePool{Pool: &api.NodePool{Name: fmt.Sprint("pool", w.rng.IntN(3))}})
	case 3:
		if pool := fmt.Sprint("pool", w.rng.IntN(3)); w.srv.Store().Snapshot().NodePool(pool) != nil {
			w.srv.apply(t, &state.DeleteNodePool{Pool: pool}, &state.EndFreshness{Domains: []string{"cf"}})
		}
	case 4, 5:
		if stored := w.srv.Store().Snapshot().Job("default", job); stored != nil {
			id := fmt.Sprintf("%08d-0000-4000-8000-000000000000", w.n)
			a := &api.Allocation{ID: id, Namespace: "default", JobID: job, Job: stored, NodeID: testNode, NodeName: "n", Name: api.AllocName(job, "web", w.rng.IntN(3)), Group: "web",
				DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending, CreateTime: int64(w.n)}
			w.srv.apply(t, &state.CommitPlacement{Placement: &state.Placement{Job: stored, Place: []*api.Allocation{a}, Time: int64(w.n)}})
			w.live = append(w.live, id)
		}
	default:
		if len(w.live) == 0 {
			return
		}
		i := w.rng.IntN(len(w.live))
		old := w.srv.Store().Snapshot().Allocation(w.live[i])
		if old == nil {
			return
		}
		a := old.Copy()
		a.ClientStatus, a.ModifyTime = api.AllocClientRunning, int64(w.n)
		up := w.rng.IntN(3) > 0
		a.Serving = &api.Serving{Up: up, Routable: up && w.rng.IntN(2) == 0, Since: int64(w.n)}
		if up {
			a.Serving.Services = []*api.ServiceRegistration{{ID: "svc-" + a.ID, ServiceName: "web", Namespace: "default", JobID: a.JobID, AllocID: a.ID, NodeID: a.NodeID, Address: "10.0.0.1", Port: 80, Weight: 1 + w.rng.IntN(2)}}
		}
		switch w.rng.IntN(5) {
		case 0:
			a.Crashes = &api.Crashes{Count: w.n, Total: w.n, Reason: "exited with status 17", At: int64(w.n)}
		case 1:
			a.ClientStatus, a.Serving = []string{api.AllocClientFailed, api.AllocClientComplete}[w.rng.IntN(2)], nil
			w.live = append(w.live[:i:i], w.live[i+1:]...)
		}
		w.srv.apply(t, &state.UpdateAllocations{Allocations: []*api.Allocation{a}, Time: int64(w.n)})
	}
}

// TestSnapshotAndEventsGiveTheState reads what is told while the state changes.
// After every index the picture must be the state's, nothing twice, nothing left
// out.
func TestSnapshotAndEventsGiveTheState(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			srv := newIdleServer(t)
			c := serve(t, New(Config{Server: srv.Server}))
			srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: testNode, Name: "n"}})
			w := &writer{srv: srv, rng: rand.New(rand.NewPCG(seed, 5))}
			for range 60 {
				w.write(t)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			got, told, types := picture{}, false, map[string]int{}
			at := uint64(0)
			wrote := make(chan uint64, 1)
			for b, err := range streamAll(ctx, c.Address(), "snapshot=true") {
				if err != nil {
					t.Fatalf("at index %d: %v", at, err)
				}
				if !told { // writes begin in the middle of the snapshot
					told = true
					go func() {
						for range 300 {
							w.write(t)
						}
						wrote <- srv.apply(t, &state.PutNodePool{Pool: &api.NodePool{Name: "last"}})
					}()
				}
				if b.Snapshot == "" && b.Index <= at && len(b.Events) > 0 || b.Missed != nil {
					t.Fatalf("index %d came after %d: %+v", b.Index, at, b)
				}
				at = b.Index
				got.take(t, b)
				for _, e := range b.Events {
					types[e.Type]++
				}
				if len(b.Events) > 0 && b.Snapshot == "" && b.Events[len(b.Events)-1].Key == "last" {
					break
				}
			}
			<-wrote
			for _, kind := range []string{api.EventTypeServiceAdded, api.EventTypeServiceRemoved, api.EventTypeInstanceCreated, api.EventTypeInstanceChanged, api.EventTypeInstanceCrashed, api.EventTypeInstanceRemoved} {
				if types[kind] == 0 {
					t.Errorf("nothing was told of %s: %v", kind, types)
				}
			}
			if diff := cmp.Diff(pictureOf(t, srv.Store().Snapshot()), got); diff != "" {
				t.Errorf("the state (-) is not what was told (+):\n%s", diff)
			}
		})
	}
}

// streamAll reads a stream's messages as they are on the wire.
func streamAll(ctx context.Context, address, query string) func(func(*api.EventBatch, error) bool) {
	return func(yield func(*api.EventBatch, error) bool) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/v1/event/stream?namespace=*&"+query, nil)
		if err != nil {
			yield(nil, err)
			return
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			yield(nil, err)
			return
		}
		defer http.DefaultClient.CloseIdleConnections()
		defer resp.Body.Close()
		dec := json.NewDecoder(resp.Body)
		for {
			b := new(api.EventBatch)
			err := dec.Decode(b)
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// sseMessages reads server-sent events until one whose id is the last.
func sseMessages(t *testing.T, address, query, lastID, until string) (messages []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/v1/event/stream?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); kind != "text/event-stream" || resp.StatusCode != http.StatusOK {
		t.Fatalf("got %s, %s", resp.Status, kind)
	}
	var id, event string
	for scan := bufio.NewScanner(resp.Body); scan.Scan(); {
		name, value, _ := strings.Cut(scan.Text(), ": ")
		switch name {
		case "id":
			id = value
		case "event":
			event = value
		case "":
			if event != "" {
				messages = append(messages, id+" "+event)
				if id+" "+event == until {
					return messages
				}
			}
			event = ""
		}
	}
	t.Fatalf("the stream ended after %q", messages)
	return nil
}

func TestServerSentEventsResumeWithinAnIndex(t *testing.T) {
	srv := newIdleServer(t)
	c := serve(t, New(Config{Server: srv.Server}))
	srv.apply(t, &state.RegisterJob{Job: storedJob("web"), Evaluation: &api.Evaluation{ID: "e1", Namespace: "default", JobID: "web", Status: api.EvalStatusPending}})
	srv.apply(t, &state.PutNodePool{Pool: &api.NodePool{Name: "gpu"}})
	for _, tc := range []struct {
		query, lastID string
		want          []string
	}{
		{"index=1", "", []string{"1.1 Job/JobRegistered", "1 Evaluation/EvaluationUpdated", "2 NodePool/NodePoolUpserted"}},
		{"index=1", "1.1", []string{"1 Evaluation/EvaluationUpdated", "2 NodePool/NodePoolUpserted"}},
		{"", "1", []string{"2 NodePool/NodePoolUpserted"}},
		{"topic=Job&topic=NodePool:gpu&snapshot", "", []string{" snapshot", " NodePool/NodePoolSnapshot", " Job/JobSnapshot", "2 snapshot"}},
		{"topic=NodePool:gpu&snapshot", "1", []string{"2 NodePool/NodePoolUpserted"}},
		{"topic=NodePool&filter=Payload.NodePool.Name+==+gpu&index=1", "", []string{"2 NodePool/NodePoolUpserted"}},
	} {
		got := sseMessages(t, c.Address(), tc.query, tc.lastID, tc.want[len(tc.want)-1])
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s after %q (-want +got):\n%s", tc.query, tc.lastID, diff)
		}
	}
}
