// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// leaderRoutes are all reads that only the leader can answer. The others are answered by every server.
var leaderRoutes = []string{
	"GET /v1/agent/members",
	"GET /v1/job/{id}/explain",
	"GET /v1/node/{id}/allocations/stream",
	"GET /v1/node/{id}/explain",
	"GET /v1/operator/attention",
	"GET /v1/operator/autopilot/health",
	"GET /v1/operator/raft/configuration",
	"GET /v1/operator/snapshot/schedule",
	"GET /v1/servers",
	"GET /v1/shift/{id}",
	"GET /v1/shifts",
}

// readsWithBody are all reads that have a body. Every other route with a body is a write, which the leader makes.
var readsWithBody = []string{"PUT /v1/jobs/statuses", "PUT /v1/node/{id}/identities", "PUT /v1/node/{id}/template-values", "PUT /v1/search"}

func TestEveryServerAnswersReadsExceptTheLeaders(t *testing.T) {
	var leads, bodies []string
	for _, r := range routes() {
		c := &call{route: &r}
		if r.Reads {
			bodies = append(bodies, r.Method+" "+r.Pattern)
		}
		switch {
		case r.Leads && !c.isRead():
			t.Errorf("%s %s is a write: the leader answers it in any case", r.Method, r.Pattern)
		case r.Leads:
			leads = append(leads, r.Method+" "+r.Pattern)
		}
	}
	slices.Sort(leads)
	slices.Sort(bodies)
	if !slices.Equal(leads, leaderRoutes) {
		t.Errorf("only the leader answers\n%s\nthis test expects\n%s", strings.Join(leads, "\n"), strings.Join(leaderRoutes, "\n"))
	}
	if !slices.Equal(bodies, readsWithBody) {
		t.Errorf("the reads with a body are %q, this test expects %q", bodies, readsWithBody)
	}
}

// TestAFollowerAnswersFromItsOwnState writes through one server and reads through another.
func TestAFollowerAnswersFromItsOwnState(t *testing.T) {
	g := newSites(t, 10*time.Second)
	follower := g.follower()
	var asked atomic.Int64
	ask := follower.catchUp
	follower.catchUp = func(ctx context.Context, index uint64) error {
		asked.Add(1)
		return ask(ctx, index)
	}
	for n := range 20 {
		value := fmt.Sprint("value-", n)
		wrote := g.describe(g.all[n%3], "default", value)
		if wrote.status != http.StatusOK {
			t.Fatalf("a write: %d %s", wrote.status, wrote.body)
		}
		got := g.ask(follower.machine, http.MethodGet, "/v1/namespace/default", "")
		if got.status != http.StatusOK || !strings.Contains(got.body, value) {
			t.Errorf("a read after a write: %d %s, want %s", got.status, got.body, value)
		}
		if a, b := number(t, wrote), number(t, got); b < a {
			t.Errorf("the index went from %d to %d", a, b)
		}
		if contact := got.header.Get("X-Nomad-LastContact"); contact != "0" || got.header.Get("X-Nomad-KnownLeader") != "true" {
			t.Errorf("the answer is %s ms old", contact)
		}
		list := g.ask(follower.machine, http.MethodPost, "/v1/search", `{"Prefix": "", "Context": "nodes"}`)
		if list.status != http.StatusOK || number(t, list) < number(t, wrote) {
			t.Errorf("a search: %d %s", list.status, list.body)
		}
	}
	if g.leader() != follower && asked.Load() == 0 {
		t.Error("the follower answered no read")
	}
}

func number(t *testing.T, a answer) uint64 {
	t.Helper()
	index, err := strconv.ParseUint(a.header.Get("X-Nomad-Index"), 10, 64)
	if err != nil {
		t.Errorf("the index of %d %s: %v", a.status, a.body, err)
	}
	return index
}

// TestACutOffServerAnswersNoCurrentRead cuts a follower off, and then the leader.
func TestACutOffServerAnswersNoCurrentRead(t *testing.T) {
	g := newSites(t, 500*time.Millisecond)
	for _, what := range []string{"a follower", "the leader"} {
		cut := g.follower()
		if what == "the leader" {
			cut = g.leader()
		}
		g.isolate(cut)
		wait.Until(t, "the others accept a write", func() bool {
			return g.describe(g.leader(cut), "default", "written without "+what).status == http.StatusOK
		})
		for _, path := range []string{"/v1/namespace/default", "/v1/jobs", "/v1/servers", "/v1/event/stream", "/v1/namespace/default?index=1&wait=1s"} {
			if got := g.ask(cut.machine, http.MethodGet, path, ""); got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "stale") && !strings.Contains(got.body, "no leader") {
				t.Errorf("%s that is cut off answers GET %s: %d %s", what, path, got.status, got.body)
			}
		}
		got := g.ask(cut.machine, http.MethodGet, "/v1/namespace/default?stale", "")
		if got.status != http.StatusOK || strings.Contains(got.body, "without "+what) {
			t.Errorf("a stale read of %s that is cut off: %d %s", what, got.status, got.body)
		}
		if age, err := strconv.Atoi(got.header.Get("X-Nomad-LastContact")); err != nil || age == 0 || got.header.Get("X-Nomad-KnownLeader") != "false" {
			t.Errorf("a stale read of %s that is cut off is %q ms old, and a leader is known: %s", what, got.header.Get("X-Nomad-LastContact"), got.header.Get("X-Nomad-KnownLeader"))
		}
		g.heal(cut)
		wait.Until(t, what+" that is back has the write", func() bool {
			got := g.ask(cut.machine, http.MethodGet, "/v1/namespace/default", "")
			return got.status == http.StatusOK && strings.Contains(got.body, "without "+what)
		})
	}
}

// operation is a read or a write of a register.
type operation struct {
	write bool
	value string
}

// register accepts the linearizable histories of a register.
var register = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, in, out any) (bool, any) {
		if op := in.(operation); op.write {
			return true, op.value
		}
		return out == state, state
	},
}

// A history records the operations on one register.
type history struct {
	began time.Time
	mu    sync.Mutex
	all   []porcupine.Operation
}

// do records an operation. The outcome of a write may be unknown; a read that failed says nothing.
func (h *history) do(client int, op operation, request func() (value string, known bool)) {
	call := time.Since(h.began).Nanoseconds()
	value, known := request()
	end := time.Since(h.began).Nanoseconds()
	if !known {
		if !op.write {
			return
		}
		end = 1 << 62
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, porcupine.Operation{ClientId: client, Input: op, Call: call, Output: value, Return: end})
}

// TestReadsOfAllServersAreLinearizable reads a register a thousand times through all servers while another
// client writes to it, and the leader is cut off and returns. No client sees an index go back.
func TestReadsOfAllServersAreLinearizable(t *testing.T) {
	const readers, reads = 5, 200
	g := newSites(t, 30*time.Second)
	if got := g.describe(g.leader(), "default", ""); got.status != http.StatusOK {
		t.Fatalf("a write: %d %s", got.status, got.body)
	}
	h := &history{began: time.Now()}
	var finished atomic.Int64
	var clients sync.WaitGroup
	for client := range readers {
		clients.Go(func() {
			defer finished.Add(1)
			last := uint64(0)
			for n := range reads {
				at := g.all[(client+n)%len(g.all)]
				h.do(client, operation{}, func() (string, bool) {
					got := g.ask(at.machine, http.MethodGet, "/v1/namespace/default", "")
					var space api.Namespace
					if got.status != http.StatusOK || json.Unmarshal([]byte(got.body), &space) != nil {
						t.Errorf("read %d of client %d at %s: %d %s", n, client, at.id, got.status, got.body)
						return "", false
					}
					if index := number(t, got); index < last {
						t.Errorf("client %d saw index %d after %d", client, index, last)
					} else {
						last = index
					}
					return space.Description, true
				})
			}
		})
	}
	clients.Go(func() {
		for n := 0; finished.Load() < readers; n++ {
			at, value := g.all[n%len(g.all)], fmt.Sprint("value-", n)
			h.do(readers, operation{true, value}, func() (string, bool) { return "", g.describe(at, "default", value).status == http.StatusOK })
		}
	})
	cut := g.leader()
	g.isolate(cut)
	g.leader(cut)
	g.heal(cut)
	clients.Wait()
	if n := len(h.all); n < readers*reads {
		t.Errorf("%d operations", n)
	}
	if got := porcupine.CheckOperationsTimeout(register, h.all, time.Minute); got != porcupine.Ok {
		t.Errorf("the history of %d operations is %s", len(h.all), got)
	}
}

// TestABlockingQueryOutlivesTheLeader waits for a change on a follower, and loses the leader.
func TestABlockingQueryOutlivesTheLeader(t *testing.T) {
	g := newSites(t, 30*time.Second)
	if got := g.describe(g.leader(), "default", "first"); got.status != http.StatusOK {
		t.Fatalf("a write: %d %s", got.status, got.body)
	}
	follower, leader := g.follower(), g.leader()
	index := number(t, g.ask(follower.machine, http.MethodGet, "/v1/namespace/default", ""))
	results := make(chan answer, 2)
	for _, at := range []*site{follower, leader} {
		before := at.refreshed.Load()
		go func() {
			results <- g.ask(at.machine, http.MethodGet, fmt.Sprintf("/v1/namespace/default?index=%d&wait=2m", index), "")
		}()
		wait.Until(t, "the query is opened", func() bool { return at.refreshed.Load() > before })
	}
	g.isolate(leader)
	next := g.leader(leader)
	if len(results) > 0 {
		t.Errorf("the change of leader ended the query: %+v", <-results)
	}
	if got := g.describe(next, "default", "second"); got.status != http.StatusOK {
		t.Fatalf("a write: %d %s", got.status, got.body)
	}
	first := <-results
	if first.status != http.StatusOK || !strings.Contains(first.body, "second") || number(t, first) <= index {
		t.Errorf("the query of the follower: %d %s", first.status, first.body)
	}
	if len(results) > 0 {
		t.Errorf("a server that is cut off answered: %+v", <-results)
	}
	g.heal(leader)
	if got := <-results; got.status != http.StatusOK || !strings.Contains(got.body, "second") {
		t.Errorf("the query of the former leader: %d %s", got.status, got.body)
	}
}

// TestAQueryOfACutOffServerEndsWithAnError lets the time of a query pass on a server that is cut off.
func TestAQueryOfACutOffServerEndsWithAnError(t *testing.T) {
	g := newSites(t, 500*time.Millisecond)
	follower := g.follower()
	index := number(t, g.ask(follower.machine, http.MethodGet, "/v1/namespace/default", ""))
	result := make(chan answer, 1)
	before := follower.refreshed.Load()
	go func() {
		result <- g.ask(follower.machine, http.MethodGet, fmt.Sprintf("/v1/namespace/default?index=%d&wait=1s", index), "")
	}()
	wait.Until(t, "the query is opened", func() bool { return follower.refreshed.Load() > before })
	g.isolate(follower)
	if got := <-result; got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "stale") {
		t.Errorf("a query whose time passed: %d %s", got.status, got.body)
	}
}
