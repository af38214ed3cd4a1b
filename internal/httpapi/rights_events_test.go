// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/eventstream"
	live "github.com/reeve-run/reeve/internal/server/catalog"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// receive opens a stream as a peer, and sends each line; it closes the channel when the stream ends.
func (h *harness) receive(p peer, query string) <-chan string {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.http.URL+"/v1/event/stream?"+query, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set(p.header[0], p.header[1])
	resp, err := h.http.Client().Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		h.t.Fatalf("%s: %s", query, resp.Status)
	}
	lines := make(chan string, 1000)
	ctx := h.t.Context()
	go func() {
		defer resp.Body.Close()
		defer close(lines)
		scanner := bufio.NewScanner(resp.Body)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() && ctx.Err() == nil {
			lines <- scanner.Text()
		}
	}()
	return lines
}

// receiveUntil collects the events of a stream as "topic namespace key" until one contains a text.
func receiveUntil(t *testing.T, lines <-chan string, text string) (got []string) {
	t.Helper()
	limit := wait.Limit(t, 20*time.Second)
	for {
		select {
		case line, open := <-lines:
			if !open {
				t.Fatalf("the stream ended before %q: %q", text, got)
			}
			var batch api.EventBatch
			if err := json.Unmarshal([]byte(line), &batch); err != nil {
				t.Fatal(err)
			}
			for _, e := range batch.Events {
				got = append(got, e.Topic+" "+e.Namespace+" "+e.Key)
			}
			if slices.ContainsFunc(got, func(e string) bool { return strings.Contains(e, text) }) {
				return got
			}
		case <-limit:
			t.Fatalf("no event %q: %q", text, got)
		}
	}
}

func (h *harness) registerIn(namespace, id string) {
	h.t.Helper()
	job := storedJob(id)
	job.Namespace = namespace
	if _, err := h.server.RegisterJob(h.t.Context(), &api.RegisterJobRequest{Job: job}); err != nil {
		h.t.Fatal(err)
	}
}

// TestStreamsShowOnlyWhatTheirReadersMayRead follows events of all namespaces with rights in some of them,
// which change meanwhile.
func TestStreamsShowOnlyWhatTheirReadersMayRead(t *testing.T) {
	h := newHarness(t, withUsers(t))
	for _, name := range []string{"web", "api", "secret"} {
		if _, err := h.server.PutNamespace(t.Context(), &api.Namespace{Name: name}, nil); err != nil {
			t.Fatal(err)
		}
		h.registerIn(name, name+"-first")
	}
	reads := func(names ...string) (rules string) {
		for _, name := range names {
			rules += "namespace \"" + name + "\" { policy = \"read\" }\n"
		}
		return rules
	}
	h.policy("readers", reads("web", "api"))
	ana, _ := h.user("readers")
	// hides checks that no event has one of the texts. Servers evaluate jobs later, so events of a namespace
	// may follow in the next window.
	hides := func(got []string, texts ...string) {
		t.Helper()
		for _, e := range got {
			for _, text := range append(texts, api.TopicDomain, api.TopicNode, "default") {
				if strings.Contains(e, text) {
					t.Errorf("the reader received %q", e)
				}
			}
		}
	}
	all := h.receive(ana, "namespace=*&snapshot=true")
	// The filter's field exists in no event of a node, and in none of the hidden ones.
	filtered := h.receive(ana, "namespace=*&topic=Job&index=0&filter=Payload.Job.ID+matches+%22.*%22")
	hides(receiveUntil(t, all, "Job web web-first"), "secret")
	h.registerIn("secret", "secret-second")
	h.registerIn("api", "api-second")
	hides(receiveUntil(t, all, "Job api api-second"), "secret")
	hides(receiveUntil(t, filtered, "Job api api-second"), "secret")

	h.policy("readers", reads("web"))
	h.registerIn("api", "api-third")
	h.registerIn("web", "web-third")
	hides(receiveUntil(t, all, "Job web web-third"), "secret", "api-third")

	h.policy("readers", reads("web", "secret"))
	h.registerIn("secret", "secret-fourth")
	hides(receiveUntil(t, all, "Job secret secret-fourth"), "secret-second", "api-third")

	h.policy("readers", `node { policy = "read" }`)
	limit := wait.Limit(t, 10*time.Second)
	for open := true; open; {
		select {
		case _, open = <-all:
		case <-limit:
			t.Fatal("the stream outlives the rights of its reader")
		}
	}
	nodes := h.receive(ana, "topic=Node&topic=NodePool")
	if _, err := h.server.PutNodePool(t.Context(), &api.NodePool{Name: "gpu"}); err != nil {
		t.Fatal(err)
	}
	if got := receiveUntil(t, nodes, "gpu"); len(got) != 1 {
		t.Errorf("a reader of nodes received %q", got)
	}
}

func TestStreamsNeedARightForEachTopicThatTheyName(t *testing.T) {
	h := newHarness(t, withUsers(t))
	if _, err := h.server.PutNamespace(t.Context(), &api.Namespace{Name: "web"}, nil); err != nil {
		t.Fatal(err)
	}
	h.policy("readers", `namespace "web" { policy = "read" }`)
	ana, _ := h.user("readers")
	for query, want := range map[string]string{
		"":                                     "read-job",
		"namespace=default":                    "read-job",
		"namespace=secret":                     "read-job",
		"namespace=web&topic=Node":             "node {",
		"namespace=web&topic=Job&topic=Node:x": "node {",
		"namespace=web&topic=NodePool":         "node {",
		"namespace=web&topic=Domain":           "operator {",
		"namespace=default&topic=HostVolume":   "host-volume-read",
		"namespace=web&topic=ACLToken":         "only management",
		"namespace=web&topic=Variable":         "only management",
	} {
		h.wants(query, ana.ask(t, h.handler, http.MethodGet, "/v1/event/stream?"+query, ""), 403, want)
	}
}

// limitedCall returns a call of a token that may read the namespace web.
func limitedCall(t testing.TB, pattern string) *call {
	t.Helper()
	srv := newIdleServer(t)
	for _, cmd := range []state.Command{
		&state.RaiseLevel{Level: state.Level}, state.PutNamespace(&api.Namespace{Name: "web"}, nil), state.PutNamespace(&api.Namespace{Name: "secret"}, nil),
		state.PutACLPolicy(&api.ACLPolicy{Name: "readers", Rules: `namespace "web" { policy = "read" }`}),
		state.PutACLToken(&state.ACLToken{Hash: []byte{1}, ACLToken: api.ACLToken{AccessorID: "a", Type: api.ACLTokenClient, Policies: []string{"readers"}}}, nil),
	} {
		srv.apply(t, cmd)
	}
	h := New(Config{Server: srv.Server})
	t.Cleanup(h.Close)
	r := httptest.NewRequest(http.MethodGet, pattern, nil)
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, door.Caller{Kind: door.User, ID: "a"}))
	table := routes()
	i := slices.IndexFunc(table, func(r route) bool { return r.Pattern == pattern && r.Method == http.MethodGet })
	return &call{Handler: h, r: r, route: &table[i], namespace: allNamespaces}
}

// TestTheCatalogShowsNoIDsOfOtherNamespaces follows the catalog with rights in one namespace.
func TestTheCatalogShowsNoIDsOfOtherNamespaces(t *testing.T) {
	c := limitedCall(t, "/v1/catalog/stream")
	for _, namespace := range []string{allNamespaces, "web"} {
		c.namespace = namespace
		w := c.newCatalogView()
		for _, step := range []struct {
			update *api.CatalogUpdate
			want   string
		}{
			{&api.CatalogUpdate{Index: 1, Complete: true, Nodes: []string{"n1"}, Entries: []*api.CatalogEntry{{AllocID: "w1", Namespace: "web"}, {AllocID: "s1", Namespace: "secret"}}, Stacks: []*api.StackShare{{Namespace: "secret", Stack: "s"}}}, "w1"},
			{&api.CatalogUpdate{Index: 2, Nodes: []string{"n2"}, Removed: []string{"s1"}}, ""},
			{&api.CatalogUpdate{Index: 3, Entries: []*api.CatalogEntry{{AllocID: "s2", Namespace: "secret"}}}, ""},
			{&api.CatalogUpdate{Index: 4, Removed: []string{"s2", "w1"}}, "w1"},
			{&api.CatalogUpdate{Index: 5, Removed: []string{"w1"}}, ""},
		} {
			line, err := w.line(&live.Message{CatalogUpdate: step.update})
			if err != nil {
				t.Fatal(err)
			}
			text := string(line)
			if strings.Contains(text, "s1") || strings.Contains(text, "s2") || strings.Contains(text, "secret") || strings.Contains(text, `"n`) || !strings.Contains(text, step.want) || step.want == "" && text != "" {
				t.Errorf("namespace %s, index %d: %s, want %q", namespace, step.update.Index, text, step.want)
			}
		}
	}
}

// TestDialectsNeedTheRightsOfTheirRequests speaks a dialect whose requests need rights in the namespace of
// the query.
func TestDialectsNeedTheRightsOfTheirRequests(t *testing.T) {
	h := newHarness(t, withUsers(t), func(c *Config) {
		c.Dialects = []Dialect{{
			Claims: func(u *url.URL) bool { return strings.HasPrefix(u.Path, "/service/") },
			Needs: func(r *http.Request) string {
				if strings.HasSuffix(r.URL.Path, "/debug") {
					return ""
				}
				return "operate-plan"
			},
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("by " + r.URL.Query().Get("by"))) }),
		}}
	})
	h.policy("operators", `namespace "web" { capabilities = ["operate-plan"] }`)
	ana, _ := h.user("operators")
	manager, _ := h.user()
	h.wants("in its namespace", ana.ask(t, h.handler, "PUT", "/service/x/v1/plans?namespace=web&by=root", ""), 200, "by ana")
	h.wants("twice", ana.ask(t, h.handler, "PUT", "/service/x/v1/plans?namespace=web&by=root&by=root&namespace=secret", ""), 200, "by ana")
	for _, path := range []string{"/service/x/v1/plans", "/service/x/v1/plans?namespace=secret", "/service/x/v1/plans?namespace=*", "/service/x/v1/plans?namespace=secret&namespace=web", "/service/x/debug?namespace=web"} {
		h.wants(path, ana.ask(t, h.handler, "PUT", path, ""), 403, "")
	}
	h.wants("management", manager.ask(t, h.handler, "PUT", "/service/x/debug?by=root", ""), 200, "by root")
}

func TestDomainsConcernAllNamespaces(t *testing.T) {
	h := newHarness(t, withUsers(t))
	h.policy("one", `namespace "default" { policy = "write" }`)
	h.policy("every", `namespace "*" { policy = "write" }`)
	h.policy("state", `operator { policy = "read" }`)
	if _, err := h.server.PutNamespace(t.Context(), &api.Namespace{Name: "web"}, nil); err != nil {
		t.Fatal(err)
	}
	one, _ := h.user("one")
	every, _ := h.user("every")
	state, _ := h.user("state")
	h.wants("one namespace", one.ask(t, h.handler, "PUT", "/v1/domain/cf", "{}"), 403, `namespace "web"`)
	h.wants("one namespace", one.ask(t, h.handler, "DELETE", "/v1/domain/cf", ""), 403, "")
	h.wants("one namespace", one.ask(t, h.handler, "GET", "/v1/domains", ""), 403, "operator")
	h.wants("every namespace", every.ask(t, h.handler, "PUT", "/v1/domain/cf", "{}"), 200, "")
	h.wants("the state", state.ask(t, h.handler, "GET", "/v1/domain/cf", ""), 200, "cf")
	h.wants("the state", state.ask(t, h.handler, "PUT", "/v1/domain/cf", "{}"), 403, "mark-domain")
}

// BenchmarkMaySeeEvent checks an event for a reader with limited rights.
func BenchmarkMaySeeEvent(b *testing.B) {
	c := limitedCall(b, "/v1/event/stream")
	may := c.mayReceive()
	e := &api.Event{Topic: api.TopicJob, Namespace: "web", Key: "shop"}
	b.ReportAllocs()
	for b.Loop() {
		if !may(e) {
			b.Fatal("the event is hidden")
		}
	}
}

// until is a writer of a stream that ends it after a text.
type until struct {
	strings.Builder
	text string
	end  context.CancelFunc
}

func (w *until) Write(p []byte) (int, error) {
	n, err := w.Builder.Write(p)
	if strings.Contains(w.String(), w.text) {
		w.end()
	}
	return n, err
}

// TestAReaderMissesNoEventWhenItsRightsChangeWithinAnIndex loses the connection after the first of two events of an
// index, and the right to the first.
func TestAReaderMissesNoEventWhenItsRightsChangeWithinAnIndex(t *testing.T) {
	srv := newIdleServer(t)
	h := New(Config{Server: srv.Server})
	defer h.Close()
	srv.apply(t, &state.RegisterJob{Job: storedJob("web"), Evaluation: &api.Evaluation{ID: "e1", Namespace: "default", JobID: "web", Status: api.EvalStatusPending}})
	srv.apply(t, &state.PutNodePool{Pool: &api.NodePool{Name: "gpu"}})
	topics, err := eventstream.ParseSelection(nil)
	if err != nil {
		t.Fatal(err)
	}
	// read returns what a reader with rights to some topics receives after the event with an id, up to a text.
	read := func(id, text string, permitted ...string) string {
		t.Helper()
		q := eventstream.Query{Topics: topics, Namespace: "*", SSE: true, From: 1, May: func(e *api.Event) bool { return slices.Contains(permitted, e.Topic) }}
		if id != "" {
			if q.From, q.Skip, err = eventstream.ParseID(id); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		events, err := h.events.Open(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		defer events.Close()
		w := &until{text: text, end: cancel}
		if err := events.Run(ctx, w); !errors.Is(err, context.Canceled) {
			t.Fatalf("the stream ended with %v after %s", err, w)
		}
		return w.String()
	}
	all := read("", "gpu", api.TopicJob, api.TopicEvaluation, api.TopicNodePool)
	_, rest, _ := strings.Cut(all, "id: ")
	first, _, _ := strings.Cut(rest, "\n")
	if first == "1" || !strings.Contains(all, "id: 1\nevent: Evaluation/") {
		t.Fatalf("the events of index 1 have other ids than expected: %s", all)
	}
	for _, id := range []string{first, "1.1"} { // the second is of an earlier version, or of a reader with other rights
		if got := read(id, "gpu", api.TopicEvaluation, api.TopicNodePool); !strings.Contains(got, "Evaluation/EvaluationUpdated") || strings.Contains(got, "JobRegistered") {
			t.Errorf("after the id %s, the reader receives %s", id, got)
		}
	}
}
