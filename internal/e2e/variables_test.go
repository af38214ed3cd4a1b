// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// TestVariablesStaySecret stores a variable on a cluster, whose servers all read it, also after the
// leader was killed. No file and no log contains it. A cluster on new machines reads it from a snapshot
// with the recovery key, and with nothing else.
func TestVariablesStaySecret(t *testing.T) {
	const canary = "canary-9c41d0b7"
	m := newMembers(t, 3)
	m.form()
	ctx := t.Context()
	var recovery []byte
	m.all[0].eventually("the founder has a recovery key", func(context.Context) (err error) {
		recovery, err = os.ReadFile(filepath.Join(m.all[0].Dir, "recovery.key"))
		return err
	})
	variable := &api.Variable{VariableMetadata: api.VariableMetadata{Path: "shop/db"}, Items: map[string]string{"password": canary}}
	m.all[0].eventually("the variable is stored", func(ctx context.Context) error {
		_, err := m.all[1].Client.Variables().Put(ctx, variable)
		return err
	})
	read := func(a *machine) error {
		v, _, err := a.Client.Variables().Get(ctx, "shop/db", nil)
		if err == nil && v.Items["password"] != canary {
			err = fmt.Errorf("the variable is %v", v.Items)
		}
		return err
	}
	for i, a := range m.all {
		if err := read(a); err != nil {
			t.Errorf("server %d: %v", i+1, err)
		}
	}
	leader := m.leader(m.all[0])
	leader.Kill()
	rest := m.other(leader)
	rest.eventually("the next leader reads and writes", func(ctx context.Context) error {
		_, err := rest.Client.Variables().Put(ctx, variable)
		return errors.Join(err, read(rest))
	})
	snapshot, err := saved(ctx, rest)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(snapshot, []byte(canary)) {
		t.Error("the snapshot contains the secret")
	}
	for _, a := range m.all {
		if strings.Contains(a.Output(), canary) {
			t.Errorf("the log of %s contains the secret", a.Dir)
		}
		for _, path := range filesWith(t, a.Dir, canary) {
			t.Errorf("%s contains the secret", path)
		}
	}
	if len(filesWith(t, rest.Dir, "shop/db")) == 0 {
		t.Error("no file contains the path: the search for the secret finds nothing at all")
	}

	other := newMembers(t, 1)
	other.form()
	fresh := other.all[0]
	if _, err := fresh.Client.Operator().RestoreSnapshot(ctx, bytes.NewReader(snapshot)); err != nil {
		t.Fatal(err)
	}
	if err := read(fresh); err == nil || !strings.Contains(err.Error(), "reeve keyring recover") {
		t.Errorf("without the recovery key: %v", err)
	}
	if _, err := fresh.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: sleeper("other", 0)}); err != nil {
		t.Errorf("without the recovery key, a job is refused: %v", err)
	}
	if answer, err := fresh.Client.Keyring().Recover(ctx, string(recovery)); err != nil || len(answer.Recovered) == 0 || len(answer.Failed) > 0 {
		t.Fatalf("the recovery: %+v, %v", answer, err)
	}
	if err := read(fresh); err != nil {
		t.Errorf("after the recovery: %v", err)
	}
	if secret := strings.TrimSpace(string(recovery)); strings.Contains(fresh.Output(), secret) || len(filesWith(t, fresh.Dir, secret)) > 0 {
		t.Error("the new server keeps the recovery key")
	}
}
