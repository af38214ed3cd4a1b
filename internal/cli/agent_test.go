// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSystemdPassesAJoinToken(t *testing.T) {
	dir := t.TempDir()
	getenv := func(name string) string { return map[string]string{"CREDENTIALS_DIRECTORY": dir}[name] }
	if path := credentialFile(func(string) string { return "" }); path != "" {
		t.Errorf("without systemd: %q", path)
	}
	if path := credentialFile(getenv); path != "" {
		t.Errorf("without the credential: %q", path)
	}
	path := filepath.Join(dir, credential)
	if err := os.WriteFile(path, []byte("reeve-node-1-a-b\n"), 0o400); err != nil {
		t.Fatal(err)
	}
	if got := credentialFile(getenv); got != path {
		t.Errorf("with the credential: %q, want %q", got, path)
	}
}
