// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDataIsInherited(t *testing.T) {
	tree, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tree.Close)
	for _, task := range []string{"web", "gone"} {
		if err := tree.Build("old", task, Layout{}); err != nil {
			t.Fatal(err)
		}
	}
	put := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(tree.Task("old", "web").Local, "db"), "rows")
	put(filepath.Join(tree.Root("old"), "alloc", "data", "shared"), "all")
	put(filepath.Join(tree.Root("old"), "alloc", "tmp", "scratch"), "x")
	for range 2 { // it may be repeated
		if err := tree.Inherit("old", "new", []string{"web", "added"}); err != nil {
			t.Fatal(err)
		}
		if err := tree.Build("new", "web", Layout{}); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{"web/local/db": "rows", "alloc/data/shared": "all"} {
		if got, err := os.ReadFile(filepath.Join(tree.Root("new"), path)); string(got) != want {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
	for _, path := range []string{"alloc/tmp/scratch", "gone", "added"} {
		if _, err := os.Lstat(filepath.Join(tree.Root("new"), path)); err == nil {
			t.Errorf("%s was inherited, too", path)
		}
	}
}

func TestWhatIsNewerIsNotReplaced(t *testing.T) {
	tree, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tree.Close)
	for _, alloc := range []string{"old", "new"} {
		if err := tree.Build(alloc, "web", Layout{}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree.Task(alloc, "web").Local, "db"), []byte(alloc), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(tree.Root("old"), "alloc", "data")
	if err := os.Remove(data); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", data); err != nil {
		t.Fatal(err)
	}
	if err := tree.Inherit("old", "new", []string{"web"}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(tree.Task("new", "web").Local, "db")); string(got) != "new" {
		t.Errorf("local/db: %q, %v", got, err)
	}
	if info, err := os.Lstat(filepath.Join(tree.Root("new"), "alloc", "data")); err != nil || !info.IsDir() {
		t.Errorf("a link was inherited: %v, %v", info, err)
	}
	if err := tree.Inherit("never", "new", []string{"web"}); err != nil {
		t.Errorf("from an allocation without directory: %v", err)
	}
}
