// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// newSession is a session of a test that looks at single answers.
func newSession(t *testing.T) *session {
	t.Helper()
	s := &session{t: t, w: newWorld(t)}
	s.handler = New(s.w, nil)
	return s
}

func TestTemplatesAreThoseOfTheirConfiguration(t *testing.T) {
	s := newSession(t)
	var ids []string
	if err := json.Unmarshal(s.ask(http.MethodGet, base+"configurations", "").Body.Bytes(), &ids); err != nil || len(ids) != 2 {
		t.Fatalf("configurations are %v (%v), want two", ids, err)
	}
	for i, want := range []string{"version = 1\n", "version = 2\n"} {
		got := s.ask(http.MethodGet, base+"artifacts/template/"+ids[i]+"/hello/server/server.conf", "")
		if got.Code != http.StatusOK || got.Body.String() != want {
			t.Errorf("the template of version %d is %d %q, want %q", i, got.Code, got.Body, want)
		}
	}
	for path, want := range map[string]string{
		ids[0] + "/nope/server/server.conf":   "Pod nope not found",
		ids[0] + "/hello/nope/server.conf":    "Task nope not found",
		ids[0] + "/hello/server/nope":         "Config nope not found",
		"nope/hello/server/server.conf":       `"nope" is not the id of a configuration`,
		derivedID("x") + "/hello/server/nope": "Configuration " + derivedID("x") + " not found",
	} {
		if got := s.ask(http.MethodGet, base+"artifacts/template/"+path, ""); got.Code < 400 || got.Body.String() != want {
			t.Errorf("%s: got %d %q, want %q", path, got.Code, got.Body, want)
		}
	}
}

func TestThreadsAreShown(t *testing.T) {
	got := newSession(t).ask(http.MethodGet, base+"debug/threads", "")
	if got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "goroutine profile") {
		t.Errorf("got %d %.200s", got.Code, got.Body)
	}
}

func TestPathsOfTheDialect(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/service/web/plans":              "web plans",
		"/v1/service/web/v1/plans/deploy":    "web plans/deploy",
		"/v1/multi/web/pod/web-0/status":     "web pod/web-0/status",
		"/v1/multi/a%2Fb/plans/x%2Fy":        "a/b plans/x/y",
		"/service/web/v1/health":             "web health",
		"/service/a/b/v2/debug/offers":       "a/b debug/offers",
		"/service/v1/v1/plans":               "v1 plans",
		"/v1/service/web":                    "",
		"/v1/service/web/v1":                 "",
		"/v1/service/web/_nomad-task-1":      "",
		"/v1/services":                       "",
		"/v1/multi/web":                      "",
		"/v1/multi//plans":                   "",
		"/service//v1/plans":                 "",
		"/service/web/plans":                 "",
		"/service/web/v1":                    "",
		"/v1/job/web/plans":                  "",
		"/v1/plans":                          "",
		"/":                                  "",
		"/v1/service/web/v1/v1/plans/deploy": "",
	} {
		u, err := url.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		service, rest, ok := cut(u)
		got := ""
		if ok {
			got = service + " " + strings.Join(rest, "/")
		}
		if got != want || Claims(u) != ok {
			t.Errorf("%s is of %q, want %q", path, got, want)
		}
	}
}

// FuzzRequests asks anything: the answer may be a refusal in words, but never a
// failure of the server.
func FuzzRequests(f *testing.F) {
	for _, r := range routes() {
		f.Add(r.method, base+strings.Join(r.path, "/"), "{}")
	}
	for _, seed := range []string{"plans/deploy/continue?phase=%00", "pod/hello-0/pause", "debug/plans?plan=deploy&phase=&step=%5B", "configurations/..", "state/zone/hello/::1"} {
		f.Add(http.MethodPost, base+seed, `["server", null]`)
	}
	f.Fuzz(func(t *testing.T, method, path, body string) {
		u, err := url.ParseRequestURI(path)
		if err != nil || !Claims(u) || strings.ContainsAny(method, " \t\r\n") || method == "" {
			return
		}
		h := New(newWorld(t), nil)
		r := httptest.NewRequest(http.MethodGet, "/", strings.NewReader(body))
		r.Method, r.URL = method, u
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code == http.StatusInternalServerError {
			t.Errorf("%s %s with %q: %d %s", method, path, body, w.Code, w.Body)
		}
	})
}

// TestRequestsOfOneServiceNeedRightsOfItsNamespace lists what each row of the table needs. Everything else
// needs management.
func TestRequestsOfOneServiceNeedRightsOfItsNamespace(t *testing.T) {
	for _, rt := range routes() {
		want := ""
		switch first := rt.path[0]; {
		case first == "plans" || first == "plan":
			want = "operate-plan"
		case first == "pod":
			want = "alloc-lifecycle"
		case first == "state" || first == "artifacts" || first == "debug":
			want = "management"
		}
		if rt.method == http.MethodGet && want != "management" {
			want = "read-job"
		}
		for _, prefix := range []string{"/v1/service/x/", "/service/a/b/v1/", "/v1/multi/x/v1/"} {
			r := httptest.NewRequest(rt.method, prefix+strings.NewReplacer("{", "", "}", "").Replace(strings.Join(rt.path, "/")), nil)
			if got := cmp.Or(Needs(r), "management"); got != want {
				t.Errorf("%s %s needs %s, want %s", rt.method, r.URL.Path, got, want)
			}
		}
	}
}
