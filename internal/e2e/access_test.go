// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// bearing returns a client of an agent that presents a token.
func (m *members) bearing(i int, secret string) *client.Client {
	m.t.Helper()
	c, err := client.New(client.Config{Address: "http://127.0.0.1:" + testbed.MemberPort, Dial: m.net.Hosts()[i].Dial, Token: secret})
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { c.Close() })
	return c
}

// TestATeamHasItsNamespace gives a team a namespace and a token. The token works on every server as
// soon as it exists, only for the namespace, and on no server a second after it was deleted.
func TestATeamHasItsNamespace(t *testing.T) {
	m := newMembers(t, 3)
	m.form()
	ctx, operator := t.Context(), m.other(m.leader(m.all[0])).Client
	if _, err := operator.Namespaces().Put(ctx, &api.Namespace{Name: "web"}); err != nil {
		t.Fatal(err)
	}
	if _, err := operator.ACL().PutPolicy(ctx, &api.ACLPolicy{Name: "web", Rules: "namespace \"web\" {\n  policy = \"write\"\n}\n"}); err != nil {
		t.Fatal(err)
	}
	token, err := operator.ACL().CreateToken(ctx, &api.ACLToken{Name: "ana", Type: api.ACLTokenClient, Policies: []string{"web"}})
	if err != nil {
		t.Fatal(err)
	}
	var users []*client.Client
	for i := range m.all {
		users = append(users, m.bearing(i, token.SecretID))
	}
	job := sleeper("shop", 1)
	job.Namespace = "web"
	for i, user := range users {
		if _, err := user.Jobs().Register(ctx, &api.RegisterJobRequest{Job: job}); err != nil {
			t.Errorf("server %d: %v", i+1, err)
		}
		other := sleeper("shop", 1)
		other.Namespace = api.DefaultNamespace
		_, err := user.Jobs().Register(ctx, &api.RegisterJobRequest{Job: other})
		if api.CodeOf(err) != api.CodeForbidden || !strings.Contains(err.Error(), "submit-job") || !strings.Contains(err.Error(), `namespace "default"`) {
			t.Errorf("server %d: a job of another namespace: %v", i+1, err)
		}
	}
	m.all[0].eventually("the job runs", func(ctx context.Context) error {
		list, _, err := users[1].Jobs().Allocations(ctx, "shop", false, &client.QueryOptions{Namespace: "web"})
		if err == nil && !running(1)(list) {
			err = context.DeadlineExceeded
		}
		return err
	})
	if _, err := operator.ACL().DeleteToken(ctx, token.AccessorID); err != nil {
		t.Fatal(err)
	}
	deleted := time.Now()
	for i, user := range users {
		m.all[i].eventually("the deleted token is refused", func(ctx context.Context) error {
			_, err := user.Jobs().Register(ctx, &api.RegisterJobRequest{Job: job})
			if api.CodeOf(err) != api.CodeForbidden {
				if err == nil {
					t.Errorf("server %d starts a job %s after the deletion", i+1, time.Since(deleted))
				}
				return err
			}
			return nil
		})
	}
	for _, a := range m.all {
		if strings.Contains(a.Output(), token.SecretID) {
			t.Errorf("%s logs the secret of a token", a.Dir)
		}
		for _, path := range filesWith(t, a.Dir, token.SecretID) {
			t.Errorf("%s contains the secret of a token", path)
		}
	}
	if len(filesWith(t, m.all[0].Dir, token.AccessorID)) == 0 {
		t.Error("no file contains the accessor id: the search for the secret finds nothing at all")
	}
}

// filesWith returns the files below a directory that contain a text.
func filesWith(t *testing.T, dir, text string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil // a task's directory may end meanwhile
		}
		b, err := os.ReadFile(path)
		if err == nil && bytes.Contains(b, []byte(text)) {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}
