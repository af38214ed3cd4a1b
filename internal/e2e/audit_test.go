// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// TestEveryServerRecordsItsRequests sends writes through all servers, and lists them on one: each
// has one record, of the server that received it, although the leader answers all of them. A killed
// server keeps its records.
func TestEveryServerRecordsItsRequests(t *testing.T) {
	m := newMembers(t, 3)
	m.form()
	ctx, leader := t.Context(), m.leader(m.all[0])
	if _, err := leader.Client.ACL().PutPolicy(ctx, &api.ACLPolicy{Name: "read", Rules: "namespace \"default\" {\n  policy = \"read\"\n}\n"}); err != nil {
		t.Fatal(err)
	}
	token, err := leader.Client.ACL().CreateToken(ctx, &api.ACLToken{Name: "ana", Type: api.ACLTokenClient, Policies: []string{"read"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range m.all {
		if _, err := a.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: sleeper("web", 1)}); err != nil {
			t.Fatal(err)
		}
		if _, err := m.bearing(i, token.SecretID).Jobs().Register(ctx, &api.RegisterJobRequest{Job: sleeper("evil", 1)}); api.CodeOf(err) != api.CodeForbidden {
			t.Fatalf("server %d: %v, want a refusal", i+1, err)
		}
	}
	list := func(args ...string) (records []*api.RequestRecord) {
		t.Helper()
		cmd := m.net.Hosts()[1].Command(reeve, append([]string{"operator", "audit", "-json"}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("reeve operator audit: %v: %s", err, out)
		}
		if err := json.Unmarshal(out, &records); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return records
	}
	registered, refused := map[string]int{}, map[string]int{}
	for _, r := range list("-route", "PUT /v1/jobs") {
		switch {
		case r.Status == http.StatusOK && r.Object == "job web" && r.Caller == "local":
			registered[r.Server]++
		case r.Refused && r.TokenName == "ana" && r.Accessor == token.AccessorID && strings.Contains(r.Reason, "submit-job"):
			refused[r.Server]++
		default:
			t.Errorf("an unexpected record: %+v", r)
		}
	}
	for _, name := range []string{"host-1", "host-2", "host-3"} {
		if registered[name] != 1 || refused[name] != 1 {
			t.Errorf("%s recorded %d registrations and %d refusals, want one of each", name, registered[name], refused[name])
		}
	}
	if all := list("-refused", "-caller", "ana", "-limit", "2"); len(all) != 2 || all[0].Time.After(all[1].Time) {
		t.Errorf("two of three refusals: %d records", len(all))
	}
	for _, a := range m.all {
		if paths := filesWith(t, filepath.Join(a.Dir, "audit"), token.SecretID); len(paths) > 0 {
			t.Errorf("%v contain the secret of a token", paths)
		}
	}
	last := m.all[2]
	last.Kill()
	if all := list("-refused"); len(all) != 2 {
		t.Errorf("without a server: %d refusals, want those of the others", len(all))
	}
	last.start()
	last.eventually("all servers vote", func(ctx context.Context) error { return m.allVote(ctx, last) })
	if all := list("-refused"); len(all) != 3 {
		t.Errorf("after the server was killed and started: %d refusals, want 3", len(all))
	}
}
