// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nelson

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// garbage holds bodies that no route expects.
var garbage = []string{
	"", "null", "0", `"x"`, "[]", "[[[[", "{", "{}", "{}{}", "\x00\xff", `{"service_type": null, "version": null}`,
	`{"service_type": "shop", "version": {"major": 1e400, "minor": 0}}`, `{"service_type": "shop", "version": {"major": 99999999999999999999, "minor": 0}}`,
	`{"service_type": "a\u0000b", "version": {"major": 0, "minor": 0}}`, `{"unit": "shop", "version": "9.9.9", "target": "../../dev"}`,
	`{"datacenter": "dc1", "namespace": "dev", "service_type": "../x", "version": "x", "description": "169.254.169.254", "port": 99999999}`,
	`{"namespace": "a//b"}`, `{"namespace": "` + strings.Repeat("a/", 5000) + `"}`, `{"access_token": {"a": 1}}`,
	strings.Repeat("[", 100_000), strings.Repeat(" ", maxBody+1), `{"name": "` + strings.Repeat("x", maxBody) + `"}`,
}

// TestGarbageChangesNothing sends garbage to every route with every method. The answer is never a failure that
// clients retry.
func TestGarbageChangesNothing(t *testing.T) {
	s := newSession(t)
	before := s.w.store.Index()
	values := []string{"x", "..", "%00", "100000000000x", "%2e%2e%2f", strings.Repeat("9", 3000), "a%20b"}
	for _, rt := range routes() {
		for i, body := range garbage {
			path := "/" + regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(strings.Join(rt.path, "/"), values[i%len(values)])
			for _, method := range []string{rt.method, http.MethodGet, http.MethodPut, http.MethodPatch, http.MethodDelete} {
				got := s.ask(method, path+"?ns=%00,&status=%ff&offset=1e9&dc=[&unit="+strings.Repeat("u", 2000), body)
				if got.Code >= 500 && got.Code != http.StatusNotImplemented {
					t.Errorf("%s %.100s with %.100q: %d %s", method, path, body, got.Code, got.Body)
				}
			}
		}
	}
	if len(s.w.verbs) > 0 || s.w.store.Index() != before {
		t.Errorf("garbage changed the state from index %d to %d, and called %v", before, s.w.store.Index(), s.w.verbs)
	}
}

func TestFailuresOfTheServerAreNotRetried(t *testing.T) {
	s := newSession(t)
	s.w.refusal = api.Errorf(api.CodeInternal, "secret path /var/lib")
	for range 2 {
		got := s.ask(http.MethodPost, "/v1/deployments/100000000000/redeploy", "")
		if got.Code != http.StatusNotImplemented || strings.Contains(got.Body.String(), "secret") || !strings.Contains(got.Body.String(), "at request ") {
			t.Errorf("got %d %s, want 501 without the reason", got.Code, got.Body)
		}
		s.w.panics = true
	}
}

func TestGUIDsAreTwelveLowerCaseLettersAndDigits(t *testing.T) {
	valid := regexp.MustCompile(`^[a-z0-9]{12}$`)
	for _, id := range []string{"", "x", "5F1F0000-0000-0000-0000-000000000001", "5f1f0000-0000-0000-0000-000000000001", api.NewID()} {
		if got := stackGUID(&api.Stack{ID: id}); !valid.MatchString(got) {
			t.Errorf("the guid of %q is %q", id, got)
		}
	}
	s := newSession(t)
	for _, path := range []string{"/v1/deployments?ns=dev", "/v1/units", "/v1/loadbalancers"} {
		var list []struct{ GUID string }
		if err := json.Unmarshal(s.ask(http.MethodGet, path, "").Body.Bytes(), &list); err != nil || len(list) == 0 {
			t.Fatalf("%s: %v", path, err)
		}
		seen := make(map[string]bool)
		for _, o := range list {
			if !valid.MatchString(o.GUID) || seen[o.GUID] {
				t.Errorf("%s: guid %q", path, o.GUID)
			}
			seen[o.GUID] = true
		}
	}
}

func TestLoadbalancersAreFoundByTheirGUID(t *testing.T) {
	s := newSession(t)
	for _, lb := range (&request{core: s.w}).loadbalancers() {
		var got loadbalancer
		answer := s.ask(http.MethodGet, "/v1/loadbalancers/"+lb.GUID, "")
		if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*lb, got); diff != "" {
			t.Errorf("load balancer %s (-listed +found):\n%s", lb.GUID, diff)
		}
	}
}

func TestAmbiguousGUIDsAreRefused(t *testing.T) {
	s := newSession(t)
	twin := *s.w.store.Snapshot().Stack("dev", s.w.name("shop", "2.4.0"))
	s.w.addStack(t, 3, "shop", "2.6.0", api.StackReady) // has the guid of the shop 2.4.0
	got := s.ask(http.MethodPost, "/v1/deployments/"+stackGUID(&twin)+"/redeploy", "")
	if got.Code != http.StatusConflict || len(s.w.verbs) > 0 {
		t.Errorf("got %d %s, and called %v", got.Code, got.Body, s.w.verbs)
	}
}

func TestPathsOfTheDialect(t *testing.T) {
	for path, want := range map[string]bool{
		"/nelson": true, "/nelson/": true, "/nelson/v1/units": true, "/nelson/%2e%2e/v1/jobs": true,
		"/nelsonx": false, "/v1/deployments": false, "/": false, "/NELSON/v1/units": false, "/x/nelson/v1/units": false,
	} {
		u, err := url.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		if Claims(u) != want {
			t.Errorf("%s: claimed %v, want %v", path, !want, want)
		}
	}
}

func TestEveryRouteIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/nelson.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rt := range routes() {
		row := rt.method + " /" + strings.Join(rt.path, "/")
		if !strings.Contains(string(text), "`"+row+"`") {
			t.Errorf("docs/nelson.md does not mention `%s`", row)
		}
	}
}

// FuzzRequests sends any request. The answer may be a refusal, but not a failure of the server.
func FuzzRequests(f *testing.F) {
	for _, rt := range routes() {
		f.Add(rt.method, prefix+"/"+strings.Join(rt.path, "/"), garbage[len(rt.path)])
	}
	f.Add(http.MethodGet, prefix+"/v1/deployments?ns=dev&status=ready", "")
	f.Add(http.MethodGet, prefix+"/v1/deployments/100000000000/log?offset=1", "")
	f.Fuzz(func(t *testing.T, method, path, body string) {
		u, err := url.ParseRequestURI(path)
		if err != nil || !Claims(u) || strings.ContainsAny(method, " \t\r\n") || method == "" {
			return
		}
		r := httptest.NewRequest(http.MethodGet, "/", strings.NewReader(body))
		r.Method, r.URL = method, u
		r.AddCookie(&http.Cookie{Name: SessionCookie, Value: "x"})
		w := httptest.NewRecorder()
		New(newWorld(t), "", nil).ServeHTTP(w, r)
		if w.Code >= 500 && w.Code != http.StatusNotImplemented {
			t.Errorf("%s %s with %q: %d %s", method, path, body, w.Code, w.Body)
		}
	})
}
