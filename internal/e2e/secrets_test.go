// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// secretFiles are the files of a data directory that contain secrets, by the reason. All others must
// contain none.
var secretFiles = map[string]string{
	"operator.token": "the founder's operator token, for the person who founded the cluster",
	"recovery.key":   "the founder's recovery key, until that person has moved it away",
	"join.token":     "the token with which the member joined",
}

// ask sends a request as it is written, with a token, and returns the status and the body.
func (m *members) ask(i int, method, path, token, body string) (int, string) {
	m.t.Helper()
	r, err := http.NewRequestWithContext(m.t.Context(), method, "http://127.0.0.1:"+testbed.MemberPort+path, strings.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("X-Nomad-Token", token)
	}
	transport := &http.Transport{DialContext: m.net.Hosts()[i].Dial}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(r)
	if err != nil {
		m.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// TestSecretsAppearNowhere plants a distinct secret in every input of a cluster, and looks for all of them in
// everything that three servers write, show and pass on. The environment and the meta of a job are no
// secrets: they prove that the search finds what is there.
func TestSecretsAppearNowhere(t *testing.T) {
	m := newMembers(t, 3)
	m.form()
	ctx, operator := t.Context(), m.other(m.leader(m.all[0])).Client // writes are forwarded
	const canary = "c4n4ry-of-"
	secrets := map[string]string{} // by their kind

	token, err := operator.ACL().CreateToken(ctx, &api.ACLToken{Name: "ana", Type: api.ACLTokenManagement})
	if err != nil {
		t.Fatal(err)
	}
	secrets["user token"] = last(token.SecretID)
	guess := token.SecretID[:len(token.SecretID)-6] + "aaaaaa" // a trusted user's request with it is refused
	once, err := m.bearing(0, token.SecretID).ACL().CreateOneTimeToken(ctx)
	if err != nil {
		t.Fatal(err)
	}
	secrets["one-time token"] = last(once.OneTimeSecretID)
	for name, path := range map[string]string{"operator token": filepath.Join(m.all[0].Dir, "operator.token"), "node token": m.token("node"), "server token": m.token("server"), "recovery key": filepath.Join(m.all[0].Dir, "recovery.key")} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		secrets[name] = last(strings.TrimSpace(string(text)))
	}
	if _, err := operator.Variables().Put(ctx, &api.Variable{VariableMetadata: api.VariableMetadata{Path: "shop/db"}, Items: map[string]string{"password": canary + "variable"}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ kind, method, path, token, body string }{
		{"header", http.MethodPut, "/v1/jobs", canary + "header", "{}"},
		{"valid form", http.MethodGet, "/v1/jobs", "reeve-user-1-" + canary + "valid-form", ""},
		{"body", http.MethodPut, "/v1/var/shop/other", guess, `{"Items": {"x": "` + canary + `body"}}`},
		{"broken body", http.MethodPut, "/v1/var/shop/other", token.SecretID, `{"Items": {"x": "` + canary + `broken-body" `},
		{"login token", http.MethodPut, "/v1/acl/login", "", `{"AuthMethodName": "none", "LoginToken": "` + canary + `login-token"}`},
		{"exchange", http.MethodPut, "/v1/acl/token/onetime/exchange", "", `{"OneTimeSecretID": "` + canary + `exchange"}`},
		{"join token", http.MethodPut, "/v1/cluster/join", "", `{"Token": "reeve-node-1-` + canary + `join-token"}`},
		{"recovery", http.MethodPut, "/v1/operator/keyring/recover", token.SecretID, `{"RecoveryKey": "reeve-recovery-1-` + canary + `recovery"}`},
		{"query", http.MethodPut, "/v1/system/gc?value=" + canary + "query", token.SecretID, ""},
		{"command", http.MethodGet, "/v1/client/allocation/x/exec?command=[%22" + canary + "command%22]", token.SecretID, ""},
	} {
		secrets[c.kind] = canary + strings.ReplaceAll(c.kind, " ", "-")
		for i := range m.all {
			if status, text := m.ask(i, c.method, c.path, c.token, c.body); strings.Contains(text, secrets[c.kind]) || c.token == guess && status != http.StatusForbidden {
				t.Errorf("the response %d to the %s is wrong, or repeats it: %s", status, c.kind, text)
			}
		}
	}
	secrets["variable"], secrets["wrong token"] = canary+"variable", last(guess)
	secrets["value of a template"] = canary + "template"
	if _, err := operator.Variables().Put(ctx, &api.Variable{VariableMetadata: api.VariableMetadata{Path: "nomad/jobs/web"}, Items: map[string]string{"password": secrets["value of a template"]}}); err != nil {
		t.Fatal(err)
	}
	job := sleeper("web", 1)
	job.Groups[0].Tasks[0].Templates = canaryTemplates()
	job.Groups[0].Tasks[0].Env, job.Meta = map[string]string{"NOTE": canary + "environment"}, map[string]string{"note": canary + "meta"}
	m.all[0].register(job)
	m.all[0].allocations("web", "runs", running(1))
	m.plantWhileRunning(secrets, canary, token.SecretID)

	shown := m.everythingShown()
	if !strings.Contains(shown["the snapshot"]+shown["the event stream"], canary+"meta") {
		t.Error("the meta of a job is in neither the snapshot nor the event stream: the search finds nothing at all")
	}
	found := 0
	for kind, secret := range secrets {
		if len(secret) < 12 {
			t.Fatalf("the %s is too short to search for: %q", kind, secret)
		}
		for where, text := range shown {
			if strings.Contains(text, secret) {
				t.Errorf("%s contains the %s", where, kind)
			}
		}
		for _, a := range m.all {
			for _, path := range filesWith(t, a.Dir, secret) {
				if kind == "value of a template" && strings.HasSuffix(path, "/secrets/conf") {
					continue
				}
				if secretFiles[filepath.Base(path)] == "" {
					t.Errorf("%s contains the %s", path, kind)
				}
				found++
			}
		}
	}
	if found == 0 {
		t.Error("not even the file of the operator's token contains a secret: the search finds nothing at all")
	}
}

// plantWhileRunning plants secrets in inputs of people: the secret of an auth method, and what a command in
// a task reads.
func (m *members) plantWhileRunning(secrets map[string]string, canary, token string) {
	m.t.Helper()
	secrets["client secret"] = canary + "client-secret"
	method := `{"Name": "sso", "Type": "OIDC", "MaxTokenTTL": "1h", "TokenLocality": "local", "Config": {"OIDCDiscoveryURL": "https://127.0.0.1:1", ` +
		`"OIDCClientID": "reeve", "OIDCClientSecret": "` + secrets["client secret"] + `", "BoundAudiences": ["reeve"], "AllowedRedirectURIs": ["http://127.0.0.1:4649/oidc/callback"]}}`
	if status, text := m.ask(0, http.MethodPut, "/v1/acl/auth-method", token, method); status != http.StatusOK || strings.Contains(text, secrets["client secret"]) {
		m.t.Errorf("the auth method: %d %s", status, text)
	}
	secrets["input of a command"] = canary + "exec-input"
	var output bytes.Buffer
	alloc := m.all[0].allocations("web", "runs", running(1))[0]
	code, err := m.all[0].Client.Allocations().Exec(m.t.Context(), alloc.ID, client.Exec{
		Task: slices.Sorted(maps.Keys(alloc.TaskStates))[0], Command: []string{"cat"}, Stdin: strings.NewReader(secrets["input of a command"]), Stdout: &output, Stderr: &output,
	})
	if err != nil || code != 0 || output.String() != secrets["input of a command"] {
		m.t.Errorf("the command exits with %d, and writes %q: %v", code, &output, err)
	}
}

// last returns the secret part of a token; the parts before it are public.
func last(token string) string {
	parts := strings.Split(token, "-")
	return parts[len(parts)-1]
}

// everythingShown returns what the servers log and show, by its description.
func (m *members) everythingShown() map[string]string {
	m.t.Helper()
	ctx, shown := m.t.Context(), map[string]string{}
	for i, a := range m.all {
		name := fmt.Sprintf("server %d: ", i+1)
		shown[name+"the log"] = a.Output()
		for _, path := range []string{"/v1/metrics", "/v1/metrics?format=prometheus", "/v1/openapi.json", "/v1/agent/self", "/v1/acl/tokens", "/v1/vars", "/v1/operator/audit?per_page=1000", "/v1/operator/keyring/keys", "/v1/operator/attention"} {
			status, text := m.ask(i, http.MethodGet, path, "", "")
			if status != http.StatusOK {
				m.t.Errorf("%s%s: %d %s", name, path, status, text)
			}
			shown[name+path] = text
		}
		for _, pid := range append(m.all[i].Processes(), a.PID()) {
			for _, file := range []string{"cmdline", "environ"} {
				if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file)); err == nil && !bytes.Contains(text, []byte("NOMAD_ALLOC_ID")) {
					shown[fmt.Sprintf("%s%s of process %d", name, file, pid)] = string(text)
				}
			}
		}
	}
	for name, text := range debug(m.t, m.net.Hosts()[0]) {
		shown["the support archive: "+name] = text
	}
	archive, err := m.all[0].Client.Operator().SaveSnapshot(ctx, false)
	if err != nil {
		m.t.Fatal(err)
	}
	defer archive.Close()
	zip, err := gzip.NewReader(archive)
	if err != nil {
		m.t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		m.t.Fatal(err)
	}
	shown["the snapshot"] = string(text)
	shown["the event stream"] = m.eventText()
	return shown
}

// eventText returns all objects of the event stream as text.
func (m *members) eventText() string {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), 3*time.Second)
	defer cancel()
	var all []string
	for batch, err := range m.all[0].Client.Events().Stream(ctx, client.EventOptions{Index: 1, Namespace: "*"}) {
		if err != nil {
			break
		}
		line, err := json.Marshal(batch)
		if err != nil {
			m.t.Fatal(err)
		}
		all = append(all, string(line))
		if slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, "c4n4ry-of-meta") }) && len(all) > 50 {
			break
		}
	}
	return strings.Join(all, "\n")
}
