// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/wait"
)

func TestARequestThatNobodyTookGoesToAnotherInstance(t *testing.T) {
	onEachEngine(t, testARequestThatNobodyTookGoesToAnotherInstance)
}

func testARequestThatNobodyTookGoesToAnotherInstance(t *testing.T, on engine) {
	r := on.start(t, Config{})
	// It reads each request to its end: a client may not see the answer to a request that it still sends.
	r.add("good", serve(t, func(w http.ResponseWriter, q *http.Request) {
		if n, err := io.Copy(io.Discard, q.Body); err != nil || n == 0 {
			t.Errorf("the instance received %d bytes: %v", n, err)
		}
		io.WriteString(w, "good")
	}), route())
	r.add("gone", unused(t), route())
	for range 50 {
		if a := r.do("POST", "x/", strings.NewReader("not idempotent")); a.status != 200 {
			t.Fatalf("%d %q", a.status, a.body)
		}
	}
	large := strings.Repeat("a", 1<<20)
	for range 20 {
		if a := r.do("POST", "x/", strings.NewReader(large)); a.status != 200 {
			t.Fatalf("with a large body: %d %q", a.status, a.body)
		}
	}
	for _, i := range r.Status().Routes[0].Instances {
		if i.AllocID == "gone" && (i.Ejections == 0 || i.EjectedFor != "no connection: connection refused") {
			t.Errorf("the instance that takes no connections is not ejected: %+v", i)
		}
	}
}

// An instance that closes a connection without a response may have executed the
// request.
func TestARequestWithoutAnswerIsRepeatedOnlyIfThatDoesNoHarm(t *testing.T) {
	onEachEngine(t, testARequestWithoutAnswerIsRepeatedOnlyIfThatDoesNoHarm)
}

func testARequestWithoutAnswerIsRepeatedOnlyIfThatDoesNoHarm(t *testing.T, on engine) {
	r := on.start(t, Config{})
	var dropped atomic.Int32
	r.add("bad", serve(t, func(w http.ResponseWriter, q *http.Request) {
		dropped.Add(1)
		panic(http.ErrAbortHandler)
	}), route(weight(1000)))
	r.add("good", says(t, "good"), route(weight(1)))
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "OPTIONS"} {
		if a := r.do(method, "x/", strings.NewReader("small")); a.status != 200 {
			t.Errorf("%s: %d %q", method, a.status, a.body)
		}
	}
	if dropped.Load() != 5 {
		t.Fatalf("the bad instance had %d of 5 requests", dropped.Load())
	}
	for _, method := range []string{"POST", "PATCH"} {
		r.add("bad", serve(t, func(w http.ResponseWriter, q *http.Request) { panic(http.ErrAbortHandler) }), route(weight(1000)))
		if a := r.do(method, "x/", strings.NewReader("small")); a.status != 502 || !strings.Contains(a.body, "without an answer") {
			t.Errorf("%s: %d %q", method, a.status, a.body)
		}
	}
}

// A request that crashes each instance must not reach all of them.
func TestARequestThatEndsInstancesIsNotGivenToAll(t *testing.T) {
	onEachEngine(t, testARequestThatEndsInstancesIsNotGivenToAll)
}

func testARequestThatEndsInstancesIsNotGivenToAll(t *testing.T, on engine) {
	r := on.start(t, Config{})
	var had atomic.Int32
	for i := range 5 {
		r.add(fmt.Sprint(i), serve(t, func(w http.ResponseWriter, q *http.Request) {
			had.Add(1)
			panic(http.ErrAbortHandler)
		}), route())
	}
	if code, _ := r.get("x/"); code != 502 || had.Load() != 2 {
		t.Errorf("status %d, and %d instances were asked, want 502 and 2", code, had.Load())
	}
}

func TestAConnectionThatWasClosedMeanwhileCostsNothing(t *testing.T) {
	onEachEngine(t, testAConnectionThatWasClosedMeanwhileCostsNothing)
}

func testAConnectionThatWasClosedMeanwhileCostsNothing(t *testing.T, on engine) {
	r := on.start(t, Config{})
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { io.Copy(w, q.Body) })}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	r.add("one", l.Addr().String(), route())
	for range 20 {
		if a := r.do("POST", "x/", strings.NewReader("first")); a.body != "first" {
			t.Fatalf("%d %q", a.status, a.body)
		}
		// The instance closes what is idle and goes on.
		s.Close()
		if l, err = net.Listen("tcp", l.Addr().String()); err != nil {
			t.Fatal(err)
		}
		s = &http.Server{Handler: s.Handler}
		go s.Serve(l)
		if a := r.do("POST", "x/", strings.NewReader("second")); a.body != "second" {
			t.Fatalf("after the kept connection was closed: %d %q", a.status, a.body)
		}
	}
	s.Close()
}

func TestEjectionHasBackoffAndNeverTakesAll(t *testing.T) {
	onEachEngine(t, testEjectionHasBackoffAndNeverTakesAll)
}

func testEjectionHasBackoffAndNeverTakesAll(t *testing.T, on engine) {
	var fail atomic.Bool
	r := on.start(t, Config{})
	h := func(w http.ResponseWriter, q *http.Request) {
		if fail.Load() {
			w.WriteHeader(500)
		}
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		r.add(name, serve(t, h), route())
	}
	fail.Store(true)
	for range 200 {
		r.get("x/")
	}
	out := 0
	for _, i := range r.Status().Routes[0].Instances {
		if i.EjectedUntil != 0 {
			out++
			if i.EjectedFor != "status 500" {
				t.Errorf("ejected for %q", i.EjectedFor)
			}
		}
	}
	if out != 2 {
		t.Errorf("%d of 4 instances that all answer with errors are ejected, want 2", out)
	}

	var e ejection
	now, yes := int64(1), func() bool { return true }
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		limit := 1
		if i == 0 {
			limit = failuresToAnswer
		}
		for range limit {
			if e.isOut(now) {
				t.Fatalf("ejection %d is too early", i)
			}
			e.failed(failuresToAnswer, "status 500", now, yes)
		}
		until, _, _ := e.state(now)
		if got := time.Duration(until - now); got != want*time.Second {
			t.Errorf("ejection %d is for %s, want %s", i, got, want*time.Second)
		}
		now = until
	}
	e.succeeded(now)
	e.failed(failuresToAnswer, "status 500", now, yes)
	if e.isOut(now) {
		t.Error("an instance that was well after its ejection is out again after one failure")
	}
}

// Instances join and leave under load. The router loses no idempotent request, even
// if instances end abruptly, and no request at all if they first complete their
// requests, as with shutdown_delay.
func TestNoRequestIsLostWhileInstancesComeAndGo(t *testing.T) {
	onEachEngine(t, testNoRequestIsLostWhileInstancesComeAndGo)
}

func testNoRequestIsLostWhileInstancesComeAndGo(t *testing.T, on engine) {
	for method, waits := range map[string]bool{"GET": false, "PUT": false, "POST": true} {
		t.Run(method, func(t *testing.T) { comeAndGo(t, on, method, waits) })
	}
}

// A comer is an instance that joins and leaves.
type comer struct {
	name string
	*http.Server
}

func (r *running) begin(name string) comer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { io.Copy(w, q.Body) })}
	go s.Serve(l)
	r.add(name, l.Addr().String(), route())
	return comer{name, s}
}

func comeAndGo(t *testing.T, on engine, method string, waits bool) {
	r := on.start(t, Config{})
	random := rand.New(rand.NewSource(1))
	up := []comer{r.begin("a"), r.begin("b"), r.begin("c")}
	var stop atomic.Bool
	var sent atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			client := &http.Client{Transport: &http.Transport{}, Timeout: deadline}
			defer client.CloseIdleConnections()
			for ; !stop.Load(); sent.Add(1) {
				q, _ := http.NewRequest(method, "http://"+r.Addr()+"/", strings.NewReader("hello"))
				resp, err := client.Do(q)
				if err != nil {
					t.Error(err)
					continue
				}
				text, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != 200 || string(text) != "hello" {
					t.Errorf("%d %q %v", resp.StatusCode, text, err)
				}
			}
		})
	}
	rounds := map[engine]int{fast: 60, standard: 20}[on]
	for n := range rounds {
		up = append(up, r.begin(fmt.Sprint(n)))
		i := random.Intn(len(up))
		old := up[i]
		up = append(up[:i], up[i+1:]...)
		p := r.table.Load().get(poolKey{})
		left := p.targets[slices.IndexFunc(p.targets, func(t target) bool { return t.alloc == old.name })]
		r.remove(old.name)
		if waits {
			wait.Pass(t.Context(), 20*time.Millisecond) // for those that were just choosing it
			eventually(t, "its requests end", func() bool { return left.outstanding.Load() == 0 })
		}
		if err := old.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
		before := sent.Load()
		eventually(t, "requests go on", func() bool { return sent.Load() > before+20 })
	}
	stop.Store(true)
	wg.Wait()
	for _, i := range up {
		i.Close()
	}
	t.Logf("%d requests", sent.Load())
}

func TestWhatIsUnderWayEndsInItsOwnTime(t *testing.T) {
	onEachEngine(t, testWhatIsUnderWayEndsInItsOwnTime)
}

func testWhatIsUnderWayEndsInItsOwnTime(t *testing.T, on engine) {
	r := on.start(t, Config{})
	hold := make(chan struct{})
	r.add("old", serve(t, func(w http.ResponseWriter, q *http.Request) {
		io.WriteString(w, "begin ")
		w.(http.Flusher).Flush()
		<-hold
		io.WriteString(w, "end")
	}), route())
	l := r.dial()
	l.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	resp, err := http.ReadResponse(l.r, nil)
	if err != nil {
		t.Fatal(err)
	}
	piece := make([]byte, 6)
	if _, err := io.ReadFull(resp.Body, piece); err != nil || string(piece) != "begin " {
		t.Fatalf("%q %v", piece, err)
	}
	r.add("new", says(t, "new"), route())
	r.remove("old")
	for range 10 {
		if code, body := r.get("x/"); code != 200 || body != "new" {
			t.Fatalf("a new request: %d %q", code, body)
		}
	}
	close(hold)
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != "end" {
		t.Errorf("the request under way ended with %q, %v", rest, err)
	}
}

func TestTheRouterStopsWhenWhatIsUnderWayHasEnded(t *testing.T) {
	onEachEngine(t, testTheRouterStopsWhenWhatIsUnderWayHasEnded)
}

func testTheRouterStopsWhenWhatIsUnderWayHasEnded(t *testing.T, on engine) {
	r := on.start(t, Config{DrainTimeout: deadline})
	began, hold := make(chan struct{}), make(chan struct{})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		close(began)
		<-hold
		io.WriteString(w, "done")
	}), route())
	idle := r.dial()
	l := r.dial()
	l.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-began
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		r.stop()
	}()
	idle.ends()
	close(hold)
	if a := l.read("GET"); a.body != "done" {
		t.Errorf("%d %q", a.status, a.body)
	}
	select {
	case <-stopped:
	case <-wait.Limit(t, deadline):
		t.Fatal("the router does not stop")
	}
	if nc, err := net.Dial("tcp", r.Addr()); err == nil {
		nc.Close()
		t.Error("the router still takes connections")
	}
}
