// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package secretfile

import (
	"os"
	"path/filepath"
	"strings"
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
