// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package contexts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func load(t *testing.T, dir string) *File {
	t.Helper()
	f, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestContextsAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "config", "reeve")
	f := load(t, dir)
	f.Put(Context{Name: "prod", Servers: []string{"10.0.0.1:4646"}, Roots: "R", Token: "T"})
	f.Put(Context{Name: "dev", Servers: []string{"10.1.0.1:4646"}})
	f.Put(Context{Name: "prod", Servers: []string{"10.0.0.2:4646"}, Roots: "R2"})
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, fileName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, mode %v", err, info.Mode())
	}
	want := &File{Current: "prod", Contexts: []Context{{Name: "dev", Servers: []string{"10.1.0.1:4646"}}, {Name: "prod", Servers: []string{"10.0.0.2:4646"}, Roots: "R2"}}}
	if diff := cmp.Diff(want, load(t, dir), cmpopts.IgnoreUnexported(File{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := f.Delete("prod"); err != nil || f.Current != "" {
		t.Errorf("%v, current %q", err, f.Current)
	}
	if err := f.Delete("prod"); err == nil || !strings.Contains(err.Error(), "there are: dev") {
		t.Errorf("delete again: %v", err)
	}
}

func TestUnusableFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others can read: %v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestDirOfContexts(t *testing.T) {
	env := map[string]string{"HOME": "/home/u", "XDG_CONFIG_HOME": "/x", "REEVE_CONFIG_DIR": "/r"}
	for _, step := range []struct{ unset, want string }{{"", "/r"}, {"REEVE_CONFIG_DIR", "/x/reeve"}, {"XDG_CONFIG_HOME", "/home/u/.config/reeve"}, {"HOME", ""}} {
		delete(env, step.unset)
		dir, err := Dir(func(name string) string { return env[name] })
		if dir != step.want || (err == nil) != (step.want != "") {
			t.Errorf("without %s: %q, %v", step.unset, dir, err)
		}
	}
}

func TestTokensAreReplacedInTheContextsThatHaveThem(t *testing.T) {
	f := load(t, t.TempDir())
	f.Put(Context{Name: "a", Token: "old"})
	f.Put(Context{Name: "b", Token: "other"})
	f.Put(Context{Name: "c"})
	if names := f.ReplaceToken("", "new"); len(names) != 0 {
		t.Errorf("without an old token, %v changed", names)
	}
	if diff := cmp.Diff([]string{"a"}, f.ReplaceToken("old", "new")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if f.Contexts[0].Token != "new" || f.Contexts[1].Token != "other" || f.Contexts[2].Token != "" {
		t.Errorf("contexts: %+v", f.Contexts)
	}
}
