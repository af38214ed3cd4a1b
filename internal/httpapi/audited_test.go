// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/auditlog"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/pki"
)

// audited gives a harness a log of requests.
func audited(t testing.TB) func(*Config) {
	l, err := auditlog.Open(auditlog.Config{Dir: filepath.Join(t.TempDir(), "audit"), Server: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return func(c *Config) { c.Audit = l }
}

// records returns the records that a query selects, the oldest first.
func (h *harness) records(query string) []*api.RequestRecord {
	h.t.Helper()
	got := peer{header: []string{"X-Nomad-Token", operatorToken}}.ask(h.t, h.handler, http.MethodGet, "/v1/operator/audit"+query, "")
	var page api.RequestRecords
	if err := json.Unmarshal([]byte(got.body), &page); err != nil || got.status != http.StatusOK {
		h.t.Fatalf("%d %s: %v", got.status, got.body, err)
	}
	slices.Reverse(page.Records)
	return page.Records
}

// TestRequestsAreRecorded sends requests of several callers, and reads who did what.
func TestRequestsAreRecorded(t *testing.T) {
	h := newHarness(t, withUsers(t), audited(t))
	h.policy("submitter", `namespace "default" { policy = "write" }`)
	ana, token := h.user("submitter")
	operator := peer{header: []string{"X-Nomad-Token", operatorToken}}
	job := samples["PUT /v1/jobs"]
	for _, c := range []struct {
		peer
		method, path, body string
		status             int
	}{
		{ana, http.MethodPut, "/v1/jobs", job, http.StatusOK},
		{ana, http.MethodGet, "/v1/jobs", "", http.StatusOK}, // not recorded
		{ana, http.MethodDelete, "/v1/job/web?purge=true&reason=PRIVATE", "", http.StatusOK},
		{ana, http.MethodGet, "/v1/var/shop/db", "", http.StatusForbidden},
		{ana, http.MethodGet, "/v1/acl/tokens", "", http.StatusForbidden},
		{operator, http.MethodPut, "/v1/var/shop/db?namespace=default", samples["PUT /v1/var/{id}"], http.StatusOK},
		{operator, http.MethodGet, "/v1/var/shop/db", "", http.StatusOK},
		{operator, http.MethodGet, "/v1/vars", "", http.StatusOK}, // not recorded: it shows no items
		{operator, http.MethodPut, "/v1/acl/token", `{"Name": "bo", "Type": "management"}`, http.StatusOK},
		{peer{}, http.MethodGet, "/v1/jobs", "", http.StatusForbidden},
		{peer{header: []string{"X-Nomad-Token", "guess"}}, http.MethodPut, "/v1/jobs", job, http.StatusForbidden},
		{peer{id: testNode, role: pki.RoleNode}, http.MethodPut, "/v1/jobs", job, http.StatusForbidden},
		{peer{id: testNode, role: pki.RoleNode, header: operator.header}, http.MethodPut, "/v1/system/gc", "", http.StatusOK},
		{operator, http.MethodPut, "/v1/jobs/parse", samples["PUT /v1/jobs/parse"], http.StatusOK}, // not recorded: it changes nothing
		{operator, http.MethodPut, "/v1/job/web/stable", "{", http.StatusBadRequest},
		{operator, http.MethodGet, "/v1/operator/snapshot", "", http.StatusOK},
	} {
		if got := c.ask(t, h.handler, c.method, c.path, c.body); got.status != c.status {
			t.Fatalf("%s %s: %d %s, want %d", c.method, c.path, got.status, got.body, c.status)
		}
	}
	var got []string
	for _, r := range h.records("") {
		line := fmt.Sprintf("%s %s %s %q", r.Caller, r.Method, r.Route, r.Path)
		if r.Accessor == token.AccessorID {
			line = token.Name + " is " + line
		}
		got = append(got, fmt.Sprintf("%s %v %s %s %d", line, r.Query, r.Namespace, r.Object, r.Status))
		if (r.Status == http.StatusForbidden) != r.Refused || r.Refused != (r.Reason != "") || r.Server != "test" || r.ID == "" || r.Address == "" {
			t.Errorf("%+v", r)
		}
		if want := strings.HasSuffix(r.Path, "/gc"); want != (r.Via == testNode) {
			t.Errorf("%s came by node %q", r.Path, r.Via)
		}
	}
	user := token.Name + " is user "
	want := []string{
		user + `PUT /v1/jobs "/v1/jobs" map[] default job two 200`,
		user + `DELETE /v1/job/{id} "/v1/job/web" map[purge:true] default  200`,
		user + `GET /v1/var/{id} "/v1/var/shop/db" map[] default  403`,
		user + `GET /v1/acl/tokens "/v1/acl/tokens" map[]   403`,
		`operator PUT /v1/var/{id} "/v1/var/shop/db" map[] default  200`,
		`operator GET /v1/var/{id} "/v1/var/shop/db" map[] default  200`,
		`operator PUT /v1/acl/token "/v1/acl/token" map[]  token ACCESSOR 200`,
		`unknown GET /v1/jobs "/v1/jobs" map[]   403`,
		`unknown PUT /v1/jobs "/v1/jobs" map[]   403`,
		`node PUT /v1/jobs "/v1/jobs" map[] default  403`,
		`operator PUT /v1/system/gc "/v1/system/gc" map[]   200`,
		`operator PUT /v1/job/{id}/stable "/v1/job/web/stable" map[] default  400`,
		`operator GET /v1/operator/snapshot "/v1/operator/snapshot" map[]   200`,
	}
	for tok := range h.server.Store().Snapshot().ACLTokens("") {
		for i := range got {
			if tok.Name == "bo" {
				got[i] = strings.Replace(got[i], tok.AccessorID, "ACCESSOR", 1)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if refused := h.records("?refused&caller=" + token.AccessorID[:8]); len(refused) != 2 || !strings.Contains(refused[0].Reason, "variables:read") {
		t.Errorf("refused requests of the user: %+v", refused)
	}
	for _, bad := range []string{"?since=yesterday", "?refused=maybe", "?per_page=-1", "?next_token=x"} {
		if got := operator.ask(t, h.handler, http.MethodGet, "/v1/operator/audit"+bad, ""); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", bad, got.status, got.body)
		}
	}
	if got := ana.ask(t, h.handler, http.MethodGet, "/v1/operator/audit", ""); got.status != http.StatusForbidden {
		t.Errorf("a user without management reads the records: %d", got.status)
	}
}

// TestAResponseNamesItsRecord compares the ids.
func TestAResponseNamesItsRecord(t *testing.T) {
	h := newHarness(t, withUsers(t), audited(t))
	got := peer{}.ask(t, h.handler, http.MethodGet, "/v1/jobs", "")
	if all := h.records(""); len(all) != 1 || all[0].ID == "" || all[0].ID != got.header.Get(requestIDHeader) {
		t.Errorf("the response names %q, the records are %+v", got.header.Get(requestIDHeader), all)
	}
}

// TestAForwardedRequestIsRecordedOnce plays the leader: another server forwards requests to it.
func TestAForwardedRequestIsRecordedOnce(t *testing.T) {
	h := newHarness(t, withUsers(t), audited(t))
	server := peer{id: "s2", role: pki.RoleServer}
	for _, caller := range []string{"operator", "local", "user/unknown", "unknown"} {
		forwarded := server
		forwarded.header = []string{door.CallerHeader, caller}
		forwarded.ask(t, h.handler, http.MethodPut, "/v1/jobs", samples["PUT /v1/jobs"])
	}
	server.ask(t, h.handler, http.MethodPut, "/v1/system/gc", "")
	if all := h.records(""); len(all) != 0 {
		t.Errorf("%d records of forwarded requests, the first %+v", len(all), all[0])
	}
	// A caller must not hide from the log by claiming to be forwarded.
	peer{header: []string{door.CallerHeader, "operator", forwardedHeader, "server by s2"}}.ask(t, h.handler, http.MethodPut, "/v1/jobs", "{}")
	if all := h.records(""); len(all) != 1 || all[0].Caller != "unknown" {
		t.Errorf("the records of a forged header: %+v", all)
	}
}

// TestRecordsHaveNoSecrets puts a secret everywhere in requests.
func TestRecordsHaveNoSecrets(t *testing.T) {
	const canary = "c4n4ry"
	h := newHarness(t, withUsers(t), audited(t))
	operator := peer{header: []string{"X-Nomad-Token", operatorToken, "Cookie", "x=" + canary, "X-Custom", canary, "User-Agent", canary}}
	guess := peer{header: []string{"X-Nomad-Token", canary, "Authorization", "Bearer reeve-user-1-" + canary}}
	for _, p := range []peer{operator, guess} {
		for path, body := range map[string]string{
			"/v1/var/shop/db?value=" + canary + "&command=" + canary:        `{"Items": {"password": "` + canary + `"}}`,
			"/v1/acl/token/reeve-user-1-" + canary + "-" + canary:           `{"Name": "x"}`,
			"/v1/acl/token/onetime/exchange":                                `{"OneTimeSecretID": "` + canary + `"}`,
			"/v1/acl/login":                                                 `{"AuthMethodName": "x", "LoginToken": "` + canary + `"}`,
			"/v1/acl/role/eyJhbGciOiJFZERTQSJ9.eyJ" + canary + "." + canary: `{"Name": "x"}`,
			"/v1/cluster/join":                                              `{"Token": "reeve-node-1-` + canary + `"}`,
			"/v1/operator/keyring/recover":                                  `{"RecoveryKey": "reeve-recovery-1-` + canary + `"}`,
			"/v1/job/web/dispatch?idempotency_token=" + canary:              `{"Payload": "` + canary + `"}`,
			"/v1/var/lock?lock-renew&node=reeve-operator-1-x-" + canary:     `{"Lock": {"ID": "` + canary + `"}}`,
			"/v1/client/allocation/x/exec?command=%5B%22" + canary + "%22]": "",
		} {
			method := http.MethodPut
			if strings.Contains(path, "/exec") {
				method = http.MethodGet
			}
			p.ask(t, h.handler, method, path, body)
		}
	}
	all := h.records("?per_page=1000")
	if len(all) < 15 {
		t.Fatalf("only %d records", len(all))
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if i := strings.Index(string(text), canary); i >= 0 {
		t.Errorf("a secret is in the records: %s", text[max(0, i-300):i+20])
	}
	if got := operator.ask(t, h.handler, http.MethodPut, "/v1/node/"+canary+"/eligibility", "{}"); got.status == 0 || !strings.Contains(h.records("")[len(all)].Path, canary) {
		t.Error("the test does not find a text in a path either")
	}
}

// auditedReads are the reads that are recorded. A route that shows secrets belongs here.
var auditedReads = strings.Fields(`
	/v1/acl/auth-method/{id} /v1/acl/binding-rule/{id} /v1/acl/binding-rules /v1/acl/role/name/{id} /v1/acl/role/{id} /v1/acl/roles /v1/acl/token/{id} /v1/acl/tokens
	/v1/agent/debug /v1/client/allocation/{alloc}/exec /v1/client/allocation/{alloc}/snapshot /v1/client/fs/cat/{alloc} /v1/client/fs/logs/{alloc} /v1/client/fs/ls/{alloc}
	/v1/client/fs/readat/{alloc} /v1/client/fs/stat/{alloc} /v1/client/fs/stream/{alloc} /v1/cluster/tokens /v1/job/{id}/action /v1/job/{id}/logs /v1/node/{id}/allocations/stream /v1/operator/keyring/keys /v1/operator/keyring/recovery
	/v1/operator/snapshot /v1/var/{id}`)

// unrecordedWrites are the writes by their method that are not recorded.
var unrecordedWrites = []string{
	"/v1/job/{id}/plan", "/v1/jobs/parse", "/v1/jobs/statuses", "/v1/search", "/v1/stacks/plan", "/v1/validate/job",
}

func TestWhichRoutesAreRecorded(t *testing.T) {
	var reads, others []string
	for _, r := range routes() {
		switch {
		case r.Method == http.MethodGet && r.Audited:
			reads = append(reads, r.Pattern)
		case r.Method != http.MethodGet && !r.Audited && !r.ForServers:
			others = append(others, r.Pattern)
		}
	}
	slices.Sort(reads)
	slices.Sort(others)
	if diff := cmp.Diff(auditedReads, reads); diff != "" {
		t.Errorf("recorded reads (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(unrecordedWrites, others); diff != "" {
		t.Errorf("writes without records (-want +got):\n%s", diff)
	}
}

func BenchmarkAudit(b *testing.B) {
	for _, on := range []bool{false, true} {
		b.Run(fmt.Sprintf("on=%v", on), func(b *testing.B) {
			w := &discard{header: http.Header{}}
			h := &Handler{Config: Config{Name: "s1"}}
			rt := &route{Method: http.MethodPut, Pattern: "/v1/jobs", Audited: true}
			if on {
				set := &Config{}
				audited(b)(set)
				h.Audit = set.Audit
			}
			r, _ := http.NewRequest(http.MethodPut, "http://s1/v1/jobs?namespace=dev", nil)
			r.RemoteAddr = "10.0.0.7:4000"
			b.ReportAllocs()
			for b.Loop() {
				if !on {
					w.WriteHeader(http.StatusOK)
					continue
				}
				a := &witness{ResponseWriter: w, h: h, r: r, caller: door.Caller{Kind: door.Operator}, route: rt}
				a.WriteHeader(http.StatusOK)
				a.end()
			}
		})
	}
}

type discard struct{ header http.Header }

func (w *discard) Header() http.Header         { return w.header }
func (w *discard) Write(p []byte) (int, error) { return len(p), nil }
func (w *discard) WriteHeader(int)             {}
