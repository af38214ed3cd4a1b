// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// offer places an allocation of a namespace that offers services.
func (s *idleServer) offer(t *testing.T, id, namespace string, services ...string) uint64 {
	t.Helper()
	job := storedJob("web")
	job.Namespace = namespace
	if s.Store().Snapshot().Job(namespace, "web") == nil {
		s.apply(t, &state.RegisterJob{Job: job})
	}
	job = s.Store().Snapshot().Job(namespace, "web")
	s.apply(t, &state.CommitPlacement{Placement: &state.Placement{Job: job, Time: 1, Place: []*api.Allocation{{
		ID: id, Namespace: namespace, JobID: "web", Job: job, NodeID: "n", Name: "web.web[0]", Group: "web",
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending,
	}}}})
	return s.ready(t, id, namespace, true, services...)
}

// ready has an allocation's node say whether it is.
func (s *idleServer) ready(t *testing.T, id, namespace string, ready bool, services ...string) uint64 {
	t.Helper()
	serving := &api.Serving{Up: true, Routable: ready, Since: int64(s.Store().Index() + 1)}
	for _, name := range services {
		serving.Services = append(serving.Services, &api.ServiceRegistration{
			ID: id + name, ServiceName: name, Namespace: namespace, NodeID: "n", JobID: "web", AllocID: id, Address: "10.0.0.1", Port: 80, Tags: []string{"t-" + id[:1]},
		})
	}
	return s.apply(t, &state.UpdateAllocations{NodeID: "n", Time: 2, Allocations: []*api.Allocation{{ID: id, NodeID: "n", ClientStatus: api.AllocClientRunning, Serving: serving}}})
}

func idOf(letter string) string { return strings.Repeat(letter, 8) + "-0000-0000-0000-000000000000" }

func TestBlockingQueryOfAServiceSleepsThroughOthers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		srv := newIdleServer(t)
		h := New(Config{Server: srv.Server})
		index := srv.offer(t, idOf("a"), "default", "web")
		w, done := ask(h, fmt.Sprintf("/v1/service/web?index=%d", index))
		list, listed := ask(h, fmt.Sprintf("/v1/services?index=%d", index))
		srv.offer(t, idOf("b"), "default", "other")
		if isDone(done) {
			t.Fatalf("answered at %d, though web is as it was at %d", indexOf(t, w), index)
		}
		if !isDone(listed) || !strings.Contains(list.Body.String(), `"other"`) {
			t.Errorf("the list of services does not say that there is another: %s", list.Body)
		}
		changed := srv.ready(t, idOf("a"), "default", false, "web")
		if !isDone(done) || w.Body.String() != "[]\n" || indexOf(t, w) != changed {
			t.Errorf("after web changed at %d: %q at %d", changed, w.Body, indexOf(t, w))
		}
		w, done = ask(h, fmt.Sprintf("/v1/service/web?index=%d&wait=1s", changed))
		if isDone(done) {
			t.Fatal("an unchanged service is answered at once")
		}
		time.Sleep(2 * time.Second)
		if !isDone(done) || w.Code != http.StatusOK || w.Body.String() != "[]\n" {
			t.Errorf("after the wait: %d %s", w.Code, w.Body)
		}
	})
}

func TestServicesByNamespaceTagAndFilter(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		srv := newIdleServer(t)
		h := New(Config{Server: srv.Server})
		srv.offer(t, idOf("a"), "default", "web")
		srv.offer(t, idOf("b"), "default", "web", "admin")
		srv.apply(t, state.PutNamespace(&api.Namespace{Name: "other"}, nil))
		srv.offer(t, idOf("c"), "other", "web")
		for path, want := range map[string]string{
			"/v1/service/web":                                 "a b",
			"/v1/service/web?namespace=other":                 "c",
			"/v1/service/web?namespace=*":                     "a b c",
			"/v1/service/web?tag=t-b":                         "b",
			"/v1/service/web?tag=t-a&tag=t-b":                 "",
			"/v1/service/web?filter=AllocID+matches+%22^b%22": "b",
			"/v1/service/web?per_page=1":                      "a",
			"/v1/service/web?per_page=1&reverse":              "b",
			"/v1/service/none":                                "",
			"/v1/job/web/services":                            "a b b",
			"/v1/allocation/" + idOf("b") + "/services":       "b b",
			"/v1/allocation/bbbb/services?tag=t-a":            "",
		} {
			w, done := ask(h, path)
			if !isDone(done) || w.Code != http.StatusOK {
				t.Fatalf("%s: %d %s", path, w.Code, w.Body)
			}
			var all []*api.ServiceRegistration
			if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil || all == nil {
				t.Fatalf("%s: %v in %s", path, err, w.Body)
			}
			var got []string
			for _, r := range all {
				got = append(got, r.AllocID[:1])
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: %v, want %s", path, got, want)
			}
		}
		for path, want := range map[string]string{
			"/v1/services":                        "default/admin default/web",
			"/v1/services?namespace=*":            "default/admin default/web other/web",
			"/v1/services?prefix=ad":              "default/admin",
			"/v1/services?namespace=*&per_page=1": "default/admin",
			"/v1/services?namespace=*&next_token=default.web&per_page=2": "default/web other/web",
			"/v1/services?filter=%22t-b%22+in+Tags":                      "default/admin default/web",
			"/v1/services?namespace=none":                                "",
		} {
			w, done := ask(h, path)
			var all []*api.ServiceListStub
			if !isDone(done) || json.Unmarshal(w.Body.Bytes(), &all) != nil || all == nil {
				t.Fatalf("%s: %d %s", path, w.Code, w.Body)
			}
			var got []string
			for _, n := range all {
				for _, s := range n.Services {
					got = append(got, n.Namespace+"/"+s.ServiceName)
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: %v, want %s", path, got, want)
			}
		}
		for _, choose := range []string{"x", "0|k", "-1|k", "1|", "|k", "1.5|k"} {
			w, done := ask(h, "/v1/service/web?choose="+choose)
			if !isDone(done) || w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "choose") {
				t.Errorf("choose=%s: %d %s", choose, w.Code, w.Body)
			}
		}
	})
}

// lines reads a stream's lines as they come.
func streamLines(t *testing.T, h http.Handler, path string) <-chan *api.CatalogUpdate {
	t.Helper()
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	served, read := make(chan struct{}), make(chan *api.CatalogUpdate, 100)
	go func() {
		defer close(served)
		defer w.Close()
		h.ServeHTTP(&pipeWriter{httptest.NewRecorder(), w}, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
	}()
	go func() {
		defer close(read)
		for s := bufio.NewScanner(r); s.Scan(); {
			u := new(api.CatalogUpdate)
			if json.Unmarshal(s.Bytes(), u) == nil {
				read <- u
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-served
		for range read {
		}
	})
	return read
}

// pipeWriter passes on what is written, as it is.
type pipeWriter struct {
	*httptest.ResponseRecorder
	w io.Writer
}

func (p *pipeWriter) Write(b []byte) (int, error)      { return p.w.Write(b) }
func (p *pipeWriter) Flush()                           {}
func (p *pipeWriter) SetWriteDeadline(time.Time) error { return nil }

func TestCatalogStream(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		srv := newIdleServer(t)
		h := New(Config{Server: srv.Server})
		srv.offer(t, idOf("a"), "default", "web")
		srv.apply(t, state.PutNamespace(&api.Namespace{Name: "other"}, nil))
		all := streamLines(t, h, "/v1/catalog/stream?namespace=*")
		other := streamLines(t, h, "/v1/catalog/stream?namespace=other")
		first := <-all
		if !first.Complete || len(first.Entries) != 1 || first.Entries[0].AllocID != idOf("a") || first.Index == 0 {
			t.Fatalf("the stream begins with %+v", first)
		}
		if u := <-other; !u.Complete || len(u.Entries) != 0 {
			t.Errorf("the stream of another namespace begins with %+v", u)
		}
		added := srv.offer(t, idOf("b"), "other", "web")
		if u := <-all; u.Complete || u.Index != added || len(u.Entries) != 1 || u.Entries[0].Namespace != "other" {
			t.Errorf("an instance that came: %+v", u)
		}
		if u := <-other; len(u.Entries) != 1 {
			t.Errorf("an instance that came, in its namespace: %+v", u)
		}
		srv.offer(t, idOf("c"), "default", "web")
		gone := srv.ready(t, idOf("a"), "default", false, "web")
		<-all
		if u := <-all; u.Index != gone || len(u.Entries) != 0 || len(u.Removed) != 1 || u.Removed[0] != idOf("a") {
			t.Errorf("an instance that went: %+v", u)
		}
		if u := <-other; len(u.Entries) != 0 || len(u.Removed) != 1 {
			t.Errorf("an instance that came in one namespace, and one that went, told in another: %+v", u)
		}
		synctest.Wait()
		if len(all) != 0 {
			t.Errorf("the stream said something, though nothing happened: %+v", <-all)
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if len(all) != 1 {
			t.Fatalf("%d signs of life within 11 s, want one", len(all))
		}
		if u := <-all; u.Index != 0 || u.Complete {
			t.Errorf("a sign of life is %+v", u)
		}
	})
}
