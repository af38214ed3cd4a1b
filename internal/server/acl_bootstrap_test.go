// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
)

var resetIndexInError = regexp.MustCompile(`\(reset index: (\d+)\)`)

// asked returns the reset index that a refusal names.
func asked(t *testing.T, err error) uint64 {
	t.Helper()
	if api.CodeOf(err) != api.CodeInvalid || !strings.Contains(fmt.Sprint(err), "ACL bootstrap already done") {
		t.Fatalf("got %v, want a refusal", err)
	}
	found := resetIndexInError.FindStringSubmatch(err.Error())
	if found == nil {
		t.Fatalf("no reset index in: %v", err)
	}
	index, _ := strconv.ParseUint(found[1], 10, 64)
	return index
}

func TestAClusterIsBootstrappedOnce(t *testing.T) {
	f := found(t)
	f.cfg.DataDir = t.TempDir()
	file := filepath.Join(f.cfg.DataDir, "acl-bootstrap-reset")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := f.BootstrapACL(t.Context(), "", true)
	index := asked(t, err)
	for what, c := range map[string]struct {
		text    string
		mode    os.FileMode
		trusted bool
		says    string
	}{
		"another number":                  {strconv.FormatUint(index+1, 10), 0o600, true, fmt.Sprintf("it contains %d", index+1)},
		"another number of a stranger":    {strconv.FormatUint(index+1, 10), 0o600, false, ""},
		"a file that others can write":    {strconv.FormatUint(index, 10), 0o666, true, "other users can write it"},
		"no number":                       {"yes", 0o600, true, "only the reset index"},
		"the number, asked by a stranger": {strconv.FormatUint(index, 10), 0o600, false, "must be requested by"},
	} {
		write(c.text, c.mode)
		_, _, err := f.BootstrapACL(t.Context(), "", c.trusted)
		if again := asked(t, err); again != index || !strings.Contains(err.Error(), c.says) || !c.trusted && strings.Contains(err.Error(), "ignored") {
			t.Errorf("%s: %v; want index %d and %q", what, err, index, c.says)
		}
	}
	write(strconv.FormatUint(index, 10)+"\n", 0o600)
	if _, _, err := f.BootstrapACL(t.Context(), "short", true); api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), "UUID") {
		t.Errorf("a secret that can be guessed: %v", err)
	}
	// Of two requests at the same time, one wins.
	const secret = "7d0aa3f0-3b7f-4f0e-9e4e-2d2f0a3cbe11"
	tokens, errs := make([]*api.ACLToken, 2), make([]error, 2)
	var racing sync.WaitGroup
	for i := range tokens {
		racing.Go(func() { tokens[i], _, errs[i] = f.BootstrapACL(t.Context(), secret, true) })
	}
	racing.Wait()
	won := 0
	if errs[0] != nil {
		won = 1
	}
	if errs[won] != nil || errs[1-won] == nil {
		t.Fatalf("two requests: %v and %v, want one token", errs[0], errs[1])
	}
	if token := tokens[won]; token.SecretID != secret || token.Type != api.ACLTokenManagement || f.RightsOf(secret) == nil {
		t.Errorf("the token is %+v", token)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file of the reset: %v", err)
	}
	if next := asked(t, errs[1-won]); next == index {
		t.Error("the reset index stays")
	}
	write(strconv.FormatUint(index, 10), 0o600)
	if _, _, err := f.BootstrapACL(t.Context(), "", true); !strings.Contains(fmt.Sprint(err), "ignored") {
		t.Errorf("the same number again: %v", err)
	}
	if !f.IsOperator(f.operator) {
		t.Error("the operator's token is no longer valid")
	}
}

// TestAServerAloneIsBootstrapped asks a machine without a cluster, which has no operator's token.
func TestAServerAloneIsBootstrapped(t *testing.T) {
	s, err := New(Config{DataDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
	if _, _, err := s.BootstrapACL(t.Context(), "", false); api.CodeOf(err) != api.CodeForbidden {
		t.Errorf("a stranger: %v", err)
	}
	token, index, err := s.BootstrapACL(t.Context(), "", true)
	if err != nil || s.RightsOf(token.SecretID) == nil {
		t.Fatal(token, err)
	}
	if _, err := pki.ParseToken(token.SecretID); err == nil {
		t.Error("the token of a server alone names a cluster")
	}
	_, _, err = s.BootstrapACL(t.Context(), "", true)
	if again := asked(t, err); again != index {
		t.Errorf("the reset index is %d, want that of the token, %d", again, index)
	}
	if err := os.WriteFile(filepath.Join(s.cfg.DataDir, "acl-bootstrap-reset"), []byte(strconv.FormatUint(index, 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.BootstrapACL(t.Context(), "", true); err != nil {
		t.Errorf("with the file: %v", err)
	}
}
