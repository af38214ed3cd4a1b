// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// startServer runs a server in memory that makes no requests of its own.
func startServer(t *testing.T) *server.Server {
	t.Helper()
	s, err := server.New(server.Config{
		Addr: "127.0.0.1:4646", Workers: 1, Logger: slog.New(slog.DiscardHandler), CallbackTransport: http.NewFileTransport(http.Dir(t.TempDir())),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// FuzzRequestBodies sends any body to every route that takes one: a server that
// leads understands it or rejects it in words, and never fails.
func FuzzRequestBodies(f *testing.F) {
	for _, body := range samples {
		f.Add([]byte(body))
	}
	for _, body := range []string{
		`null`, `{`, `[]`, `"x"`, `1e999`, `{"Job": null}`, `{"Job": {"ID": null, "TaskGroups": [null]}}`,
		`{"Job": {"TaskGroups": [{"Tasks": [{"Config": {"a": [1, {"b": null}]}}]}]}}`, `{"Job": {"Update": {"Stagger": "30s"}}}`,
	} {
		f.Add([]byte(body))
	}
	table := routes()
	f.Fuzz(func(t *testing.T, body []byte) {
		h := New(Config{Server: startServer(t)})
		for _, r := range table {
			if r.In == nil || r.Stream != "" {
				continue
			}
			w := httptest.NewRecorder()
			req := httptest.NewRequest(r.Method, pathOf(r.Pattern), strings.NewReader(string(body)))
			h.ServeHTTP(w, req)
			if w.Code == http.StatusInternalServerError {
				t.Errorf("%s %s: %d %s", r.Method, r.Pattern, w.Code, w.Body)
			}
			if w.Code >= 400 && w.Body.Len() == 0 {
				t.Errorf("%s %s: %d without a word", r.Method, r.Pattern, w.Code)
			}
		}
	})
}

// FuzzQueries asks every read anything: the answer may be a refusal in words,
// but never a failure of the server.
func FuzzQueries(f *testing.F) {
	for _, seed := range [][2]string{
		{"web", "filter=Status+%3D%3D+%22running%22&per_page=1"}, {"web", "next_token=1.a&reverse&per_page=1"},
		{"a/b", "index=1&wait=1ms&pretty"}, {"../x", "namespace=*&prefix=%00"}, {"%2F", "filter=not+(Meta.team+is+empty)"},
		{"", "topic=Job:x&region=global"}, {"e", "filter=QueuedAllocations.web+>+1"}, {testNode, "resources=true&os=1"},
	} {
		f.Add(seed[0], seed[1])
	}
	srv := newIdleServer(f)
	for i, id := range []string{"web", "web/child"} {
		srv.Store().Apply(uint64(i+1), []state.Command{&state.RegisterJob{Job: storedJob(id), Evaluation: &api.Evaluation{
			ID: fmt.Sprint("e", i), Namespace: "default", JobID: id, Status: api.EvalStatusPending,
		}}})
	}
	srv.Store().Apply(3, []state.Command{&state.RegisterNode{Node: &api.Node{ID: testNode, Name: "n"}}})
	h := New(Config{Server: srv.Server})
	table := routes()
	f.Fuzz(func(t *testing.T, id, query string) {
		for _, r := range table {
			if r.Method != http.MethodGet || r.Stream == lines {
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			path := strings.NewReplacer("{id}", url.PathEscape(id), "{alloc}", url.PathEscape(id), "{plan}", "deploy", "{name}", "web-0", "{rid}", url.PathEscape(id)).Replace(r.Pattern)
			req := &http.Request{Method: r.Method, URL: &url.URL{Path: r.Pattern, RawQuery: query}, Header: http.Header{}, Host: "x"}
			if u, err := url.ParseRequestURI(path); err == nil {
				req.URL.Path, req.URL.RawPath = u.Path, u.RawPath
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req.WithContext(ctx))
			cancel()
			if w.Code == http.StatusInternalServerError && r.Pattern != "/v1/agent/health" {
				t.Errorf("GET %s?%s: %d %s", path, query, w.Code, w.Body)
			}
		}
	})
}
