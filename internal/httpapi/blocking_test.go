// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// ask serves one request in the bubble; the answer is there once it is done.
func ask(h *Handler, path string) (*httptest.ResponseRecorder, <-chan struct{}) {
	w, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	}()
	return w, done
}

func isDone(done <-chan struct{}) bool {
	synctest.Wait()
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func indexOf(t *testing.T, w *httptest.ResponseRecorder) uint64 {
	t.Helper()
	index, err := strconv.ParseUint(w.Header().Get("X-Nomad-Index"), 10, 64)
	if err != nil {
		t.Fatalf("X-Nomad-Index: %v", err)
	}
	return index
}

func TestBlockingQueryOfOneObjectWakesForThatObject(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		srv := newIdleServer(t)
		h := New(Config{Server: srv.Server})
		index := srv.apply(t, &state.RegisterJob{Job: storedJob("web")})
		w, done := ask(h, fmt.Sprintf("/v1/job/web?index=%d", index))
		if isDone(done) {
			t.Fatalf("answered at once with index %d, though nothing is newer than %d", indexOf(t, w), index)
		}
		srv.apply(t, &state.RegisterJob{Job: storedJob("other")})
		if isDone(done) {
			t.Fatal("answered because another job changed")
		}
		changed := storedJob("web")
		changed.Priority = 70
		want := srv.apply(t, &state.RegisterJob{Job: changed})
		if !isDone(done) {
			t.Fatal("did not answer when the job changed")
		}
		if got := indexOf(t, w); got != want || !strings.Contains(w.Body.String(), `"Priority":70`) {
			t.Errorf("got index %d, want %d, with the new priority in %s", got, want, w.Body)
		}
	})
}

func TestBlockingListWakesForItsTable(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		srv := newIdleServer(t)
		h := New(Config{Server: srv.Server})
		index := srv.apply(t, &state.RegisterJob{Job: storedJob("web")})
		_, done := ask(h, fmt.Sprintf("/v1/nodes?index=%d", index))
		if isDone(done) {
			t.Fatal("answered at once, though no node is newer")
		}
		srv.apply(t, &state.RegisterJob{Job: storedJob("other")})
		if isDone(done) {
			t.Fatal("a list of nodes answered because a job changed")
		}
		srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: testNode, Name: "n"}})
		if !isDone(done) {
			t.Fatal("did not answer when a node came")
		}
	})
}

func TestBlockingQueryEndsWithItsWait(t *testing.T) {
	for name, c := range map[string]struct {
		wait     string
		min, max time.Duration
	}{
		"given":       {"&wait=16s", 16 * time.Second, 17 * time.Second},
		"in seconds":  {"&wait=16", 16 * time.Second, 17 * time.Second},
		"absent":      {"", 5 * time.Minute, 5*time.Minute + 20*time.Second},
		"beyond most": {"&wait=1h", 10 * time.Minute, 10*time.Minute + 40*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				srv := newIdleServer(t)
				h := New(Config{Server: srv.Server})
				index := srv.apply(t, &state.RegisterJob{Job: storedJob("web")})
				start := time.Now()
				w, done := ask(h, fmt.Sprintf("/v1/jobs?index=%d%s", index, c.wait))
				<-done
				if took := time.Since(start); took < c.min || took > c.max {
					t.Errorf("took %v, want %v to %v", took, c.min, c.max)
				}
				if w.Code != http.StatusOK || indexOf(t, w) != index {
					t.Errorf("got %d with index %d, want 200 with %d", w.Code, indexOf(t, w), index)
				}
			})
		})
	}
}

func TestBlockingQueryOfWhatIsNotThereAnswersWhenItComes(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		srv := newIdleServer(t)
		h := New(Config{Server: srv.Server})
		index := srv.apply(t, &state.RegisterJob{Job: storedJob("web")})
		w, done := ask(h, fmt.Sprintf("/v1/job/later?index=%d", index))
		if isDone(done) {
			t.Fatalf("answered at once: %d %s", w.Code, w.Body)
		}
		srv.apply(t, &state.RegisterJob{Job: storedJob("later")})
		if !isDone(done) || w.Code != http.StatusOK {
			t.Fatalf("the job came; got %d %s", w.Code, w.Body)
		}
		w, done = ask(h, "/v1/job/never")
		if !isDone(done) || w.Code != http.StatusNotFound || indexOf(t, w) == 0 {
			t.Fatalf("an unknown job: got %d %s", w.Code, w.Body)
		}
	})
}

func TestBlockingQueryNoticesThatAnObjectIsGone(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		srv := newIdleServer(t)
		h := New(Config{Server: srv.Server})
		job := storedJob("web")
		eval := func(id string) *api.Evaluation {
			return &api.Evaluation{ID: id, Namespace: job.Namespace, JobID: job.ID, Type: job.Type, Status: api.EvalStatusComplete}
		}
		srv.apply(t, &state.RegisterJob{Job: job, Evaluation: eval("a")})
		index := srv.apply(t, &state.PutEvaluations{Evaluations: []*api.Evaluation{eval("b")}})
		w, done := ask(h, fmt.Sprintf("/v1/job/web/evaluations?index=%d", index))
		if isDone(done) {
			t.Fatal("answered at once")
		}
		want := srv.apply(t, &state.DeleteEvaluations{IDs: []string{"b"}})
		if !isDone(done) || indexOf(t, w) != want || strings.Contains(w.Body.String(), `"ID":"b"`) {
			t.Errorf("got index %d %s, want %d and no evaluation b", indexOf(t, w), w.Body, want)
		}
	})
}

func saysThatItLives(t *testing.T, query, want string) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		srv := newIdleServer(t)
		h := New(Config{Server: srv.Server})
		w := httptest.NewRecorder()
		ctx, done := t.Context(), make(chan struct{})
		ctx, cancel := context.WithCancel(ctx)
		go func() {
			defer close(done)
			h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/event/stream"+query, nil))
		}()
		time.Sleep(35 * time.Second)
		synctest.Wait()
		cancel()
		<-done
		if got := w.Body.String(); got != strings.Repeat(want+"\n", 3) || w.Code != http.StatusOK {
			t.Errorf("%q: after 35 seconds got %d %q, want %s three times", query, w.Code, got, want)
		}
	})
}

func TestEventStreamSaysThatItLives(t *testing.T) {
	saysThatItLives(t, "", "{}")
	saysThatItLives(t, "?progress", `{"Index":0}`)
}
