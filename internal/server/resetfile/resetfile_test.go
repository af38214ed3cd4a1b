// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package resetfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOnlyAFileOfTheAgentsUserCounts(t *testing.T) {
	for what, c := range map[string]struct {
		make func(t *testing.T, path string) error
		want uint64
		says string // of the error; "": none
	}{
		"no file":             {make: func(*testing.T, string) error { return nil }},
		"a number":            {make: content("17"), want: 17},
		"a number and a line": {make: content("17\n"), want: 17},
		"the largest number":  {make: content("18446744073709551615\n"), want: 18446744073709551615},
		"nothing":             {make: content(""), says: "only the reset index"},
		"zero":                {make: content("0"), says: "only the reset index"},
		"a word":              {make: content("seventeen"), says: "only the reset index"},
		"a sign":              {make: content("-1"), says: "only the reset index"},
		"two numbers":         {make: content("17 18"), says: "only the reset index"},
		"a number too large":  {make: content("18446744073709551616"), says: "only the reset index"},
		"a long file":         {make: content(strings.Repeat(" ", 1<<20) + "17"), says: "only the reset index"},
		"a number and spaces": {make: content("17" + strings.Repeat(" ", longest)), says: "only the reset index"},
		"a directory":         {make: func(_ *testing.T, path string) error { return os.Mkdir(path, 0o700) }, says: "not a regular file"},
		"a pipe":              {make: func(_ *testing.T, path string) error { return syscall.Mkfifo(path, 0o600) }, says: "not a regular file"},
		"a link": {make: func(t *testing.T, path string) error {
			other := filepath.Join(t.TempDir(), "other")
			if err := os.WriteFile(other, []byte("17"), 0o600); err != nil {
				return err
			}
			return os.Symlink(other, path)
		}, says: "symbolic link"},
		"a file that others can write": {make: func(_ *testing.T, path string) error {
			if err := os.WriteFile(path, []byte("17"), 0o600); err != nil {
				return err
			}
			return os.Chmod(path, 0o622)
		}, says: "chmod 600"},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			if err := c.make(t, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			got, err := Read(dir)
			if got != c.want || (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %d, %v; want %d and an error that says %q", got, err, c.want, c.says)
			}
		})
	}
}

func TestAFileIsUsedOnce(t *testing.T) {
	dir := t.TempDir()
	if err := content("17")(t, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Remove(dir); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Read(dir); got != 0 || err != nil {
		t.Errorf("after its removal: %d, %v", got, err)
	}
	if got, err := Read(""); got != 0 || err != nil {
		t.Errorf("without a directory: %d, %v", got, err)
	}
}

func content(text string) func(*testing.T, string) error {
	return func(_ *testing.T, path string) error { return os.WriteFile(path, []byte(text), 0o600) }
}
