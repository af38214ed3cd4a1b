// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoSecretIsWrittenToADirectoryWithoutItsMount opens a tree whose secrets are to be in memory, at a place
// without the mount.
func TestNoSecretIsWrittenToADirectoryWithoutItsMount(t *testing.T) {
	tree, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if err := tree.Build("a", "task", Layout{Link: true}); err != nil {
		t.Fatal(err)
	}
	if err := tree.Remove("a"); err != nil {
		t.Fatal(err)
	}
	own := tree.secrets
	defer func() { tree.secrets = own }()
	tree.inMemory, tree.secrets = true, filepath.Join(t.TempDir(), "reeve", "x")
	if err := os.MkdirAll(tree.secrets, 0o711); err != nil {
		t.Fatal(err)
	}
	if err := tree.Build("b", "task", Layout{Link: true}); err == nil || !strings.Contains(err.Error(), "restart the agent") {
		t.Errorf("the error is %v", err)
	}
	if entries, err := os.ReadDir(tree.secrets); err != nil || len(entries) != 0 {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}
