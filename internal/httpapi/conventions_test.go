// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

func TestHeadersOfReadsAndWrites(t *testing.T) {
	h := newHarness(t)
	h.register("web")
	h.settle()
	for _, path := range []string{"/v1/jobs", "/v1/job/web", "/v1/nodes"} {
		a := h.get(path, nil)
		if a.header.Get("X-Nomad-Knownleader") != "true" || a.header.Get("X-Nomad-Lastcontact") != "0" {
			t.Errorf("%s: headers %v say no leader, or no contact", path, a.header)
		}
		if index := a.header.Get("X-Nomad-Index"); index == "" || index == "0" || index != a.header.Get("X-Reeve-Index") {
			t.Errorf("%s: X-Nomad-Index %q and X-Reeve-Index %q, want the same number", path, index, a.header.Get("X-Reeve-Index"))
		}
	}
	a := h.do(http.MethodPut, "/v1/jobs", samples["PUT /v1/jobs"])
	var resp api.RegisterJobResponse
	if err := json.Unmarshal([]byte(a.body), &resp); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	if resp.EvalID == "" || fmt.Sprint(resp.Index) != a.header.Get("X-Nomad-Index") {
		t.Errorf("registering answered %+v with header index %s", resp, a.header.Get("X-Nomad-Index"))
	}
}

func TestParametersAreChecked(t *testing.T) {
	h := newHarness(t)
	for path, want := range map[string]string{
		"/v1/jobs?region=mars":                     `region: this server is of region "global", not "mars"`,
		"/v1/jobs?index=x":                         `index: "x" is not a whole number`,
		"/v1/jobs?index=1&wait=soon":               `wait: "soon" is not a duration such as 30s`,
		"/v1/jobs?wait=-1s":                        `wait: "-1s" is negative`,
		"/v1/jobs?per_page=many":                   `per_page: "many" is not a whole number from 0`,
		"/v1/jobs?reverse=perhaps":                 `reverse: "perhaps" is neither true nor false`,
		"/v1/evaluations?next_token=x":             `next_token: "x" is not one that this list gave out`,
		"/v1/event/stream?topic=Weather":           `topic: unknown topic "Weather"`,
		"/v1/jobs?filter=Status+%3D%3D":            `filter: failed to read "Status ==" at line 1, column`,
		"/v1/jobs?filter=Weather+%3D%3D+%22sun%22": ``,
		"/v1/job/web/allocations?all=maybe":        `all: "maybe" is neither true nor false`,
		"/v1/job/web/submission?version=first":     `version: "first" is not a whole number`,
	} {
		a := h.do(http.MethodGet, path, "")
		if want == "" { // of an empty list nothing can be wrong
			continue
		}
		if a.status != http.StatusBadRequest || !strings.Contains(a.body, want) {
			t.Errorf("GET %s: got %d %q, want 400 and %q in it", path, a.status, a.body, want)
		}
	}
	h.register("web")
	a := h.do(http.MethodGet, "/v1/jobs?filter=Weather+%3D%3D+%22sun%22", "")
	if a.status != http.StatusBadRequest || !strings.Contains(a.body, "column 1: unknown field Weather") {
		t.Errorf("a filter on a field that is not there: got %d %q", a.status, a.body)
	}
	for _, path := range []string{"/v1/jobs?region=global", "/v1/jobs?stale", "/v1/jobs?consistent", "/v1/jobs?wait=10s"} {
		if a := h.do(http.MethodGet, path, ""); a.status != http.StatusOK {
			t.Errorf("GET %s: got %d %s", path, a.status, a.body)
		}
	}
}

func TestErrorsAreTextOrJSON(t *testing.T) {
	h := newHarness(t)
	a := h.do(http.MethodGet, "/v1/job/none", "")
	if a.status != http.StatusNotFound || a.body != `job "none" not found` || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
		t.Errorf("as text: got %d %s %q", a.status, a.header.Get("Content-Type"), a.body)
	}
	a = h.do(http.MethodGet, "/v1/job/none", "", "Accept", "application/json")
	var e api.Error
	if err := json.Unmarshal([]byte(a.body), &e); err != nil {
		t.Fatalf("as JSON: %v in %s", err, a.body)
	}
	if diff := cmp.Diff(api.Error{Code: api.CodeNotFound, Message: `job "none" not found`}, e); diff != "" {
		t.Errorf("as JSON (-want +got):\n%s", diff)
	}
}

func TestPrettyAndGzip(t *testing.T) {
	h := newHarness(t)
	for i := range 40 {
		h.register(fmt.Sprintf("web-%d", i))
	}
	if a := h.get("/v1/job/web-1?pretty", nil); !strings.Contains(a.body, "\n    \"") {
		t.Errorf("pretty: the answer is not indented: %.80s", a.body)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, h.http.URL+"/v1/jobs", nil)
	req.Header.Set("Accept-Encoding", "gzip") // set by hand, the transport leaves the answer as it is
	resp, err := h.http.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("Content-Encoding is %q, want gzip", got)
	}
	z, err := gzip.NewReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var jobs []*api.JobListStub
	if err := json.NewDecoder(z).Decode(&jobs); err != nil || len(jobs) != 40 {
		t.Errorf("got %d jobs (%v), want 40", len(jobs), err)
	}
	if _, err := io.Copy(io.Discard, z); err != nil {
		t.Error(err)
	}
}

func TestPagesOtherSitesMakeBrowsersSendAreRefused(t *testing.T) {
	h := newHarness(t)
	for name, header := range map[string][]string{
		"a form":      {"Sec-Fetch-Site", "cross-site"},
		"old browser": {"Origin", "https://evil.example"},
	} {
		if a := h.do(http.MethodPost, "/v1/jobs", samples["PUT /v1/jobs"], header...); a.status != http.StatusForbidden {
			t.Errorf("%s: got %d %s, want 403", name, a.status, a.body)
		}
	}
	a := h.do(http.MethodGet, "/v1/client/allocation/x/exec", "", "Origin", "https://evil.example", "Upgrade", "websocket", "Connection", "Upgrade")
	if a.status != http.StatusForbidden {
		t.Errorf("a websocket: got %d %s, want 403", a.status, a.body)
	}
	if v := h.server.Store().Snapshot().Job(api.DefaultNamespace, "two"); v != nil {
		t.Error("the job was registered nevertheless")
	}
}

func TestUnknownKeysComeBackAsWarnings(t *testing.T) {
	h := newHarness(t)
	body := strings.Replace(samples["PUT /v1/jobs"], `"Type"`, `"Colour": "red", "Type"`, 1)
	a := h.do(http.MethodPut, "/v1/jobs", body)
	var resp api.RegisterJobResponse
	if err := json.Unmarshal([]byte(a.body), &resp); err != nil {
		t.Fatalf("%d %v in %s", a.status, err, a.body)
	}
	if !strings.Contains(resp.Warnings, "Job.Colour") {
		t.Errorf("Warnings are %q, want Job.Colour in them", resp.Warnings)
	}
	a = h.do(http.MethodPut, "/v1/search", `{"Prefix": "t", "Colour": "red"}`)
	if !strings.Contains(a.header.Get("X-Reeve-Warnings"), "Colour") {
		t.Errorf("X-Reeve-Warnings is %q, want Colour in it", a.header.Get("X-Reeve-Warnings"))
	}
}

func TestUnknownKeysAreRefusedByRoutesOfOurs(t *testing.T) {
	h := newHarness(t)
	h.register("web")
	// The scheduler writes by itself: only what these routes write must not change.
	written := func() uint64 {
		return h.server.Store().Snapshot().TableIndex(decisions, restarts, domains, versions)
	}
	before := written()
	strict := 0
	for _, r := range routes() {
		if !r.Strict {
			continue
		}
		strict++
		a := h.do(r.Method, pathOf(r.Pattern), `{"Colour": "red"}`)
		if a.status != http.StatusBadRequest || !strings.Contains(a.body, "Colour is not a known key") {
			t.Errorf("%s %s: %d %s, want 400 that names the key", r.Method, r.Pattern, a.status, a.body)
		}
	}
	a := h.do(http.MethodPut, "/v1/job/web/restart", `{"batch-size": 3}`)
	if a.status != http.StatusBadRequest || !strings.Contains(a.body, "did you mean BatchSize?") {
		t.Errorf("batch-size: %d %s, want 400 that suggests BatchSize", a.status, a.body)
	}
	if after := written(); strict < 7 || after != before {
		t.Errorf("%d routes; what they write went from index %d to %d", strict, before, after)
	}
}

func TestJobIDsWithSlashes(t *testing.T) {
	h := newHarness(t)
	h.register("backup/periodic-17")
	for _, path := range []string{
		"/v1/job/backup%2Fperiodic-17", "/v1/job/backup/periodic-17",
		"/v1/job/backup%2Fperiodic-17/summary", "/v1/job/backup/periodic-17/summary",
	} {
		if a := h.do(http.MethodGet, path, ""); a.status != http.StatusOK {
			t.Errorf("GET %s: got %d %s", path, a.status, a.body)
		}
	}
}
