// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/contexts"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/trust"
)

func TestLogout(t *testing.T) {
	address, operator := founded(t)
	dir := t.TempDir()
	run := func(token string, args ...string) (code int, output string) {
		t.Helper()
		var out bytes.Buffer
		code = Main(t.Context(), Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Now: time.Now, Getenv: func(name string) string {
			return map[string]string{"REEVE_CONFIG_DIR": dir, "REEVE_TOKEN": token}[name]
		}})
		return code, out.String()
	}
	load := func() *contexts.File {
		t.Helper()
		f, err := contexts.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	put := func(c contexts.Context) {
		t.Helper()
		f := load()
		f.Put(c)
		if err := f.Save(); err != nil {
			t.Fatal(err)
		}
	}
	has := func(name string) bool { _, err := load().Find(name); return err == nil }
	connect := func(c contexts.Context, token string) *client.Client {
		t.Helper()
		roots, err := pki.ParseRoots([]byte(c.Roots))
		if err != nil {
			t.Fatal(err)
		}
		cl, err := client.New(client.Config{Address: "https://" + address, Token: token, TLS: trust.UserConfig(roots)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.Close)
		return cl
	}
	if code, out := run("", "logout"); code != 1 || !strings.Contains(out, "no context is current") {
		t.Errorf("without a context: %d %s", code, out)
	}
	if code, out := run(operator, "login", "-name", "op", address); code != 0 {
		t.Fatalf("%d %s", code, out)
	}
	op, err := load().Find("op")
	if err != nil {
		t.Fatal(err)
	}
	token, err := connect(op, operator).ACL().CreateToken(t.Context(), &api.ACLToken{Name: "ana", Type: api.ACLTokenManagement})
	if err != nil {
		t.Fatal(err)
	}
	user := connect(op, token.SecretID).ACL()
	valid := func() bool { _, _, err := user.OwnToken(t.Context(), nil); return err == nil }

	if code, out := run(token.SecretID, "login", "-name", "ana", address); code != 0 {
		t.Fatalf("%d %s", code, out)
	}
	ana, err := load().Find("ana")
	if err != nil || ana.Issued {
		t.Fatalf("%+v, %v", ana, err)
	}
	if code, out := run("", "logout"); code != 0 || !strings.Contains(out, "stays valid") || has("ana") || !valid() {
		t.Errorf("a token that the user brought: %d %s", code, out)
	}
	ana.Issued = true
	put(ana)
	if code, out := run("", "logout", "-keep", "ana"); code != 0 || !strings.Contains(out, "stays valid") || has("ana") || !valid() {
		t.Errorf("with -keep: %d %s", code, out)
	}
	away := ana
	away.Servers = []string{"127.0.0.1:1"}
	put(away)
	if code, out := run("", "logout"); code != 1 || !strings.Contains(out, "reeve logout -keep ana") || !has("ana") {
		t.Errorf("without a server: %d %s", code, out)
	}
	put(ana)
	if code, out := run("", "logout"); code != 0 || !strings.Contains(out, "is deleted") || has("ana") || valid() {
		t.Errorf("a token of a login: %d %s", code, out)
	}
	put(ana)
	if code, out := run("", "logout", "ana"); code != 0 || has("ana") {
		t.Errorf("a token that was deleted already: %d %s", code, out)
	}
	if code, out := run("", "logout", "op"); code != 0 || has("op") {
		t.Errorf("an operator: %d %s", code, out)
	}
	if _, err := connect(op, operator).ACL().DeleteOwnToken(t.Context()); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("an operator's token deletes itself: %v", err)
	}
}
