// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/state"
)

// serve puts a handler on loopback.
func serve(t *testing.T, h *Handler) *client.Client {
	t.Helper()
	s := httptest.NewServer(h)
	c, err := client.New(client.Config{Address: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		h.Close()
		s.CloseClientConnections()
		s.Close()
	})
	return c
}

// follow collects the first n events of a stream, as "index type key".
func follow(t *testing.T, c *client.Client, o client.EventOptions, n int, started func()) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if started != nil {
		started()
	}
	var got []string
	for batch, err := range c.Events().Stream(ctx, o) {
		if err != nil {
			t.Fatalf("after %q: %v", got, err)
		}
		for _, e := range batch.Events {
			if e.Index != batch.Index || e.Payload[e.Topic] == nil {
				t.Errorf("event %+v of index %d has another index or no payload", e, batch.Index)
			}
			got = append(got, e.Type+" "+e.Key)
		}
		if len(got) >= n {
			break
		}
	}
	return got
}

func TestEventStreamResumesAtAnIndex(t *testing.T) {
	srv := newIdleServer(t)
	c := serve(t, New(Config{Server: srv.Server}))
	first := srv.apply(t, &state.RegisterJob{Job: storedJob("web"), Evaluation: &api.Evaluation{ID: "e1", Namespace: "default", JobID: "web", Status: api.EvalStatusPending}})
	second := srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: testNode, Name: "n"}})
	srv.apply(t, &state.RegisterJob{Job: storedJob("other")})
	pools := srv.apply(t, &state.PutNodePool{Pool: &api.NodePool{Name: "gpu"}}, &state.DeleteNodePool{Pool: "gpu"})
	domains := srv.apply(t, &state.PutDomain{Domain: "cf"}, &state.EndFreshness{Domains: []string{"cf"}})
	for name, tc := range map[string]struct {
		o    client.EventOptions
		want []string
	}{
		"domains":      {client.EventOptions{Index: domains, Topics: map[string][]string{api.TopicDomain: {"cf"}}}, []string{"DomainFresh cf", "DomainStale cf"}},
		"all":          {client.EventOptions{Index: first}, []string{"JobRegistered web", "EvaluationUpdated e1", "NodeRegistration " + testNode, "JobRegistered other"}},
		"from second":  {client.EventOptions{Index: second}, []string{"NodeRegistration " + testNode, "JobRegistered other"}},
		"node pools":   {client.EventOptions{Index: pools, Topics: map[string][]string{api.TopicNodePool: nil}}, []string{"NodePoolUpserted gpu", "NodePoolDeleted gpu"}},
		"one topic":    {client.EventOptions{Index: first, Topics: map[string][]string{api.TopicJob: nil}}, []string{"JobRegistered web", "JobRegistered other"}},
		"one key":      {client.EventOptions{Index: first, Topics: map[string][]string{api.TopicJob: {"other"}}}, []string{"JobRegistered other"}},
		"filter key":   {client.EventOptions{Index: first, Topics: map[string][]string{api.TopicEvaluation: {"web"}}}, []string{"EvaluationUpdated e1"}},
		"any topic":    {client.EventOptions{Index: first, Topics: map[string][]string{api.TopicAll: {"web"}}}, []string{"JobRegistered web", "EvaluationUpdated e1"}},
		"no namespace": {client.EventOptions{Index: first, Namespace: "elsewhere"}, []string{"NodeRegistration " + testNode}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, follow(t, c, tc.o, len(tc.want), nil)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// Clients of Nomad's API always say an index: 0 has them told everything that is
// kept, and topics that nothing is told of here are no mistake of theirs.
func TestEventStreamReplaysFromIndexZero(t *testing.T) {
	srv := newIdleServer(t)
	h := New(Config{Server: srv.Server})
	srv.apply(t, &state.RegisterJob{Job: storedJob("web")})
	srv.apply(t, &state.RegisterJob{Job: storedJob("other")})
	for _, query := range []string{"?index=0&topic=Job", "?index=0&topic=Job&topic=ACLToken&topic=Variable", "?index=0&topic=Job&complete"} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		body := &newlines{httptest.NewRecorder(), cancel, 2}
		h.ServeHTTP(body, httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/event/stream"+query, nil))
		cancel()
		if got := body.Body.String(); strings.Count(got, `"JobRegistered"`) != 2 || !strings.HasPrefix(got, `{"Index":1,`) {
			t.Errorf("%s: got %q, want two jobs registered, the first at index 1", query, got)
		}
	}
}

// newlines is an answer that is no longer wanted after so many lines.
type newlines struct {
	*httptest.ResponseRecorder
	done context.CancelFunc
	left int
}

func (l *newlines) Write(p []byte) (int, error) {
	if l.left -= bytes.Count(p, []byte("\n")); l.left <= 0 {
		defer l.done()
	}
	return l.ResponseRecorder.Write(p)
}

func TestEventStreamFollowsWhatHappens(t *testing.T) {
	srv := newIdleServer(t)
	c := serve(t, New(Config{Server: srv.Server}))
	srv.apply(t, &state.RegisterJob{Job: storedJob("before")})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	alloc := &api.Allocation{ID: "a1", Namespace: "default", JobID: "web", NodeID: testNode, Name: "web.web[0]", Group: "web",
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending}
	var got []string
	acted := false
	for batch, err := range c.Events().Stream(ctx, client.EventOptions{Index: srv.Store().Index()}) {
		if err != nil {
			t.Fatal(err)
		}
		if !acted { // the stream stands once its first line is here
			acted = true
			srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: testNode, Name: "n"}})
			job := storedJob("web")
			srv.apply(t, &state.RegisterJob{Job: job})
			placed := alloc.Copy()
			placed.Job = srv.Store().Snapshot().Job("default", "web")
			srv.apply(t, &state.CommitPlacement{Placement: &state.Placement{Job: placed.Job, Place: []*api.Allocation{placed}, Time: 1}})
			srv.apply(t, &state.DeregisterJob{Namespace: "default", ID: "web", Time: 2})
		}
		for _, e := range batch.Events {
			got = append(got, e.Type+" "+e.Key)
			if a, ok := e.Payload[api.TopicAllocation].(map[string]any); ok && a["Job"] != nil {
				t.Errorf("the allocation's event carries the whole job")
			}
		}
		if len(got) > 0 && strings.HasPrefix(got[len(got)-1], "JobDeregistered") {
			break
		}
	}
	for _, want := range []string{"JobRegistered before", "NodeRegistration " + testNode, "JobRegistered web", "AllocationUpdated a1", "JobDeregistered web"} {
		found := false
		for _, g := range got {
			found = found || g == want
		}
		if !found {
			t.Errorf("the stream said %q, without %q", got, want)
		}
	}
}

// stuckWriter takes nothing until it is released, but for the header.
type stuckWriter struct {
	*httptest.ResponseRecorder
	stuck, release chan struct{}
	once           sync.Once
	told           string // the beginning of the last that is wanted: then cancel is called
	cancel         func()
}

func (w *stuckWriter) Write(p []byte) (int, error) {
	if len(p) > 0 {
		w.once.Do(func() { close(w.stuck) })
		<-w.release
	}
	if strings.HasPrefix(string(p), w.told) {
		defer w.cancel()
	}
	return w.ResponseRecorder.Write(p)
}

func TestAReaderThatFallsBehindIsTold(t *testing.T) {
	for _, tc := range []struct {
		query string
		want  []string // beginnings of the last lines
		ended any
	}{
		{"", []string{`{"Index":101,"Missed":{"From":2,"To":101}}`, ""}, nil},
		{"&complete", []string{`{"Index":101,"Missed":{"From":2,"To":101}}`, ""}, http.ErrAbortHandler},
		{"&snapshot", []string{`{"Index":101,"Missed":{"From":2,"To":101}}`, `{"Index":101,"Snapshot":"begin"}`, `{"Index":101,"Snapshot":"part","Events":[{"Topic":"Job","Type":"JobSnapshot","Key":"web"`, `{"Index":101,"Snapshot":"end"}`, ""}, nil},
	} {
		t.Run(tc.query, func(t *testing.T) {
			srv := newIdleServer(t)
			h := New(Config{Server: srv.Server})
			first := srv.apply(t, &state.RegisterJob{Job: storedJob("web")})
			w := &stuckWriter{ResponseRecorder: httptest.NewRecorder(), stuck: make(chan struct{}), release: make(chan struct{}), told: tc.want[len(tc.want)-2]}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w.cancel = cancel
			if tc.ended != nil {
				w.cancel = func() {} // it ends by itself
			}
			ended := make(chan any)
			go func() {
				defer func() { ended <- recover() }()
				h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("/v1/event/stream?topic=Job&topic=Evaluation:e0&index=%d%s", first, tc.query), nil))
			}()
			<-w.stuck
			batch := make([]*api.Evaluation, 2000)
			for n := range 100 { // more than the history holds
				for i := range batch {
					batch[i] = &api.Evaluation{ID: fmt.Sprint("e", i), Namespace: "default", JobID: "web", Status: api.EvalStatusComplete, Priority: n}
				}
				srv.apply(t, &state.PutEvaluations{Evaluations: batch})
			}
			close(w.release)
			if got := <-ended; got != tc.ended {
				t.Errorf("the stream ended with %v, want %v", got, tc.ended)
			}
			got := slices.DeleteFunc(strings.Split(w.Body.String(), "\n"), func(line string) bool { return line == "{}" }) // heartbeats of a slow machine
			got = got[max(0, len(got)-len(tc.want)):]
			for i, want := range tc.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("line %d from the end is %.200s, want %s", len(got)-i, got[i], want)
				}
			}
			// One that comes back with what it saw is told, if it asks to be.
			answer := httptest.NewRecorder()
			h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, fmt.Sprintf("/v1/event/stream?complete&index=%d", first), nil))
			if answer.Code != http.StatusNotFound || !strings.Contains(answer.Body.String(), "no longer kept") {
				t.Errorf("resuming from what is forgotten: got %d %s", answer.Code, answer.Body)
			}
		})
	}
}
