// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTokenIsMadeOnceAndKept(t *testing.T) {
	dir := t.TempDir()
	token, path, err := OpenToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || len(token) < minTokenLength {
		t.Errorf("token of %d characters in %v, %v; want a long one in a file of mode 0600", len(token), info, err)
	}
	if again, _, err := OpenToken(dir); err != nil || again != token {
		t.Errorf("the second start has the same token: %v, %v", again == token, err)
	}
	if other, _, err := OpenToken(t.TempDir()); err != nil || other == token {
		t.Errorf("another agent has the same token: %v, %v", other == token, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("the directory has %v, want the token alone", left)
	}
}

func TestTokenThatOthersMayKnowIsRefused(t *testing.T) {
	long := strings.Repeat("x", minTokenLength)
	for what, c := range map[string]struct {
		make func(path string) error
		say  string
	}{
		"readable by all": {func(p string) error { return os.WriteFile(p, []byte(long), 0o644) }, "0644"},
		"empty":           {func(p string) error { return os.WriteFile(p, nil, 0o600) }, "0 characters"},
		"short":           {func(p string) error { return os.WriteFile(p, []byte("secret\n"), 0o600) }, "6 characters"},
		"a link": {func(p string) error {
			if err := os.WriteFile(p+".other", []byte(long), 0o600); err != nil {
				return err
			}
			return os.Symlink(p+".other", p)
		}, "symbolic link"},
		"a directory": {func(p string) error { return os.Mkdir(p, 0o700) }, "regular"},
	} {
		path := filepath.Join(t.TempDir(), tokenName)
		if err := c.make(path); err != nil {
			t.Fatal(err)
		}
		_, _, err := OpenToken(filepath.Dir(path))
		if err == nil || !strings.Contains(err.Error(), c.say) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v; want a refusal that says %q and names the file", what, err, c.say)
		}
	}
}
