// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// receiver is who is told, in a bubble: it answers without sockets.
type receiver struct {
	answer func(n int, r *http.Request) (*http.Response, error) // n counts from 1; nil: 200

	mu   sync.Mutex
	got  []*http.Request
	said []api.Completion
	at   []time.Time
}

func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(req.Body)
	var c api.Completion
	_ = json.Unmarshal(body, &c)
	r.mu.Lock()
	r.got, r.said, r.at = append(r.got, req), append(r.said, c), append(r.at, time.Now())
	n := len(r.got)
	r.mu.Unlock()
	if r.answer != nil {
		return r.answer(n, req)
	}
	return respond(200), nil
}

func respond(code int) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(nil))}
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.got)
}

// simulateWith is simulate with somebody who receives callbacks.
func simulateWith(t *testing.T, r *receiver, f func(c *cluster)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		c := start(t, server.Config{CallbackTransport: r})
		defer c.close()
		f(c)
	})
}

func callingJob(id string) *api.Job {
	job := batchJob(id, 2)
	job.Meta = map[string]string{"day": "monday"}
	job.Callback = &api.JobCallback{URL: "http://receiver.example/done", Headers: map[string]string{"X-Token": "t"}, Secret: "s"}
	return job
}

func callbacksOf(s *state.Snapshot, job string) []*api.Callback {
	return slices.Collect(s.CallbacksByJob("default", job))
}

func TestACompletedJobIsToldOfOnce(t *testing.T) {
	r := &receiver{}
	simulateWith(t, r, func(c *cluster) {
		c.addNode("n1", nil)
		c.register(callingJob("import"))
		c.until("it is delivered", func(s *state.Snapshot) bool {
			all := callbacksOf(s, "import")
			return len(all) == 1 && all[0].Status == api.CallbackDelivered
		})
		c.pass(time.Hour)
		if n := r.count(); n != 1 {
			c.Fatalf("there were %d requests, want 1", n)
		}
		is, said, req := callbacksOf(c.Store().Snapshot(), "import")[0], r.said[0], r.got[0]
		if said.JobID != "import" || said.State != api.CompletionComplete || said.Failed || len(said.Tasks) != 2 || said.Meta["day"] != "monday" {
			c.Errorf("told was %+v", said)
		}
		if req.Header.Get(api.CallbackIDHeader) != is.ID || said.ID != is.ID || req.Header.Get("X-Token") != "t" ||
			!strings.HasPrefix(req.Header.Get(api.CallbackSignatureHeader), "sha256=") || req.Method != "POST" {
			c.Errorf("the request was %s %v", req.Method, req.Header)
		}
		if is.Shown().Target.Secret != "" || is.Shown().Target.Headers != nil {
			c.Errorf("it shows %+v", is.Shown().Target)
		}
		// What is over and changes no more is not told again.
		c.register(callingJob("import"))
		if _, err := c.DeregisterJob(c.Context(), "default", "import", server.DeregisterOptions{}); err != nil {
			c.Fatal(err)
		}
		c.pass(time.Hour)
		if n := r.count(); n != 1 {
			c.Errorf("after registering it again and stopping it there were %d requests", n)
		}
	})
}

func TestAnswersDecideWhetherACallbackIsRepeated(t *testing.T) {
	for name, tt := range map[string]struct {
		answer func(n int) (*http.Response, error)
		status string
		tries  int
	}{
		"taken":                {func(int) (*http.Response, error) { return respond(204), nil }, api.CallbackDelivered, 1},
		"refused":              {func(int) (*http.Response, error) { return respond(404), nil }, api.CallbackRefused, 1},
		"busy, then taken":     {sequence(503, 503, 429, 200), api.CallbackDelivered, 4},
		"nobody, then refused": {sequence(0, 0, 400), api.CallbackRefused, 3},
		"elsewhere":            {sequence(302, 200), api.CallbackDelivered, 2},
	} {
		r := &receiver{answer: func(n int, _ *http.Request) (*http.Response, error) { return tt.answer(n) }}
		simulateWith(t, r, func(c *cluster) {
			c.addNode("n1", nil)
			c.register(callingJob("import"))
			c.until(name+": it ends", func(s *state.Snapshot) bool {
				all := callbacksOf(s, "import")
				return len(all) == 1 && !all[0].IsPending()
			})
			is := callbacksOf(c.Store().Snapshot(), "import")[0]
			if is.Status != tt.status || is.Attempts != tt.tries || r.count() != tt.tries {
				c.Errorf("%s: %s after %d attempts and %d requests (%s), want %s after %d", name, is.Status, is.Attempts, r.count(), is.LastAnswer, tt.status, tt.tries)
			}
			for i, req := range r.got {
				if req.Header.Get(api.CallbackIDHeader) != is.ID {
					c.Errorf("%s: request %d has another id", name, i+1)
				}
				if i > 0 && r.at[i].Sub(r.at[i-1]) < time.Second<<(i-1) {
					c.Errorf("%s: request %d came %s after the one before", name, i+1, r.at[i].Sub(r.at[i-1]))
				}
			}
		})
	}
}

// sequence answers with one code after the other; 0 is no answer.
func sequence(codes ...int) func(int) (*http.Response, error) {
	return func(n int) (*http.Response, error) {
		code := codes[min(n, len(codes))-1]
		if code == 0 {
			return nil, errors.New("connection refused")
		}
		return respond(code), nil
	}
}

func TestACallbackIsGivenUpAtItsTime(t *testing.T) {
	r := &receiver{answer: func(int, *http.Request) (*http.Response, error) { return respond(500), nil }}
	simulateWith(t, r, func(c *cluster) {
		c.addNode("n1", nil)
		job := callingJob("import")
		job.Callback.GiveUpAfter = ptr(time.Hour)
		c.register(job)
		c.pass(61 * time.Minute)
		is := callbacksOf(c.Store().Snapshot(), "import")[0]
		if is.Status != api.CallbackGivenUp || is.LastAnswer != "500 Internal Server Error" || is.EndedAt.Sub(is.CreatedAt) != time.Hour {
			c.Errorf("it is %s after %s: %s", is.Status, is.EndedAt.Sub(is.CreatedAt), is.LastAnswer)
		}
		tries := r.count()
		if c.pass(time.Hour); r.count() != tries || tries > 25 {
			c.Errorf("%d requests in the first hour, %d in the second", tries, r.count()-tries)
		}
	})
}

// TestAPurgedJobIsToldOf removes a job that waits, and one that runs.
func TestAPurgedJobIsToldOf(t *testing.T) {
	r := &receiver{answer: func(n int, _ *http.Request) (*http.Response, error) { return sequence(503, 200)(n) }}
	simulateWith(t, r, func(c *cluster) {
		c.register(callingJob("waits"))
		c.pass(time.Second)
		if _, err := c.DeregisterJob(c.Context(), "default", "waits", server.DeregisterOptions{Purge: true}); err != nil {
			c.Fatal(err)
		}
		c.pass(time.Minute)
		if s := c.Store().Snapshot(); s.Job("default", "waits") != nil || r.count() != 2 || len(callbacksOf(s, "waits")) != 0 {
			c.Errorf("after %d requests there are %d callbacks", r.count(), len(callbacksOf(s, "waits")))
		}
		c.addNode("n1", func(a *api.Allocation, _ *api.Job) []event { return []event{{status: api.AllocClientRunning}} })
		c.register(callingJob("runs"))
		c.until("it runs", func(s *state.Snapshot) bool { return len(running(s, "runs")) == 2 })
		if _, err := c.DeregisterJob(c.Context(), "default", "runs", server.DeregisterOptions{Purge: true}); err != nil {
			c.Fatal(err)
		}
		c.pass(time.Minute)
		if r.count() != 3 {
			c.Fatalf("there were %d requests, want 3", r.count())
		}
		for i, job := range []string{"waits", "waits", "runs"} {
			if r.said[i].JobID != job || r.said[i].State != api.CompletionCancelled {
				c.Errorf("request %d: %+v", i+1, r.said[i])
			}
		}
	})
}

// TestCallbacksSurviveTheirServer kills the server while nobody answers; the next
// one delivers, with the same id.
func TestCallbacksSurviveTheirServer(t *testing.T) {
	dir := t.TempDir()
	down := &receiver{answer: func(int, *http.Request) (*http.Response, error) { return nil, errors.New("no route to host") }}
	c := start(t, server.Config{DataDir: dir, CallbackTransport: down})
	c.addNode("n1", nil)
	c.register(callingJob("import"))
	c.until("an attempt failed", func(s *state.Snapshot) bool {
		all := callbacksOf(s, "import")
		return len(all) == 1 && all[0].Attempts > 0
	})
	before := callbacksOf(c.Store().Snapshot(), "import")[0]
	c.close()

	up := &receiver{}
	c = start(t, server.Config{DataDir: dir, CallbackTransport: up})
	defer c.close()
	c.until("it is delivered", func(s *state.Snapshot) bool {
		all := callbacksOf(s, "import")
		return len(all) == 1 && all[0].Status == api.CallbackDelivered
	})
	if got := up.got[0].Header; got.Get(api.CallbackIDHeader) != before.ID || got.Get(api.CallbackAttemptHeader) == "1" {
		t.Errorf("the next server sent %v", slices.Sorted(maps.Keys(got)))
	}
}

// TestASlowReceiverHoldsNobodyUp has one host that never answers.
func TestASlowReceiverHoldsNobodyUp(t *testing.T) {
	r := &receiver{answer: func(_ int, req *http.Request) (*http.Response, error) {
		if req.URL.Host == "slow.example" {
			<-req.Context().Done()
			return nil, req.Context().Err()
		}
		return respond(200), nil
	}}
	simulateWith(t, r, func(c *cluster) {
		c.addNode("n1", nil)
		for i := range 10 {
			job := callingJob("slow-" + string(rune('a'+i)))
			job.Groups[0].Count = ptr(0)
			job.Callback.URL = "http://slow.example/"
			c.register(job)
		}
		synctest.Wait()
		if n := r.count(); n != 4 {
			c.Errorf("%d requests to one host at once, want 4", n)
		}
		began := time.Now()
		job := callingJob("quick")
		job.Groups[0].Count = ptr(0)
		c.register(job)
		c.until("the other is delivered", func(s *state.Snapshot) bool {
			all := callbacksOf(s, "quick")
			return len(all) == 1 && all[0].Status == api.CallbackDelivered
		})
		if d := time.Since(began); d > time.Second {
			c.Errorf("the other one waited %s", d)
		}
	})
}
