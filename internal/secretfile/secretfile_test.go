// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package secretfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestWriteReplacesFilesThatOnlyTheOwnerReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	for _, text := range []string{"first", "second"} {
		if err := Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		info, _ := os.Stat(path)
		if err != nil || string(got) != text || info.Mode() != 0o600 {
			t.Errorf("the file has %q, mode %v: %v", got, info.Mode(), err)
		}
	}
	if err := Write(filepath.Join(path, "below a file"), nil); err == nil {
		t.Error("a file below a file was written")
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("%d files are left", len(left))
	}
}

func TestReadToken(t *testing.T) {
	for text, want := range map[string]string{
		" reeve-node-1-x\n": "reeve-node-1-x", "": "", "\n": "", "a\nb\n": "", strings.Repeat("x", longestToken+1): "",
	} {
		path := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, from := range []string{path, "-"} {
			got, err := ReadToken(from, strings.NewReader(text))
			if got != want || (err == nil) != (want != "") {
				t.Errorf("%.20q from %s: token %.20q, error %v", text, from, got, err)
			}
			if err != nil && !strings.Contains(err.Error(), from+" does not contain exactly one token") {
				t.Errorf("%.20q: %v", text, err)
			}
		}
	}
}

func TestReadExternalTokenFollowsLinksAndChecksModes(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "token"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("token", link); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{path, link} {
		if token, err := ReadExternalToken(from); token != "secret" || err != nil {
			t.Errorf("%s: %q, %v", from, token, err)
		}
	}
	for name, damage := range map[string]func() error{
		"chmod o-rwx":                        func() error { return os.Chmod(path, 0o644) },
		"does not contain exactly one token": func() error { return os.WriteFile(path, []byte("one\ntwo\n"), 0o600) },
		"no regular file":                    func() error { os.Remove(path); return syscall.Mkfifo(path, 0o600) },
		"more than":                          func() error { os.Remove(path); return os.WriteFile(path, make([]byte, longestToken+1), 0o600) },
		"no such file":                       func() error { return os.Remove(path) },
		"too many levels of symbolic links":  func() error { return os.Symlink("link", path) },
	} {
		os.Remove(path)
		if err := os.WriteFile(path, []byte("secret\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "too many levels of symbolic links" {
			os.Remove(path)
		}
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		token, err := ReadExternalToken(link)
		if err == nil || token != "" || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "one\n") {
			t.Errorf("%s: %q, %v", name, token, err)
		}
	}
}
