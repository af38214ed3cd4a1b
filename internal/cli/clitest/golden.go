// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Rewrite is the flag -rewrite of tests.
var Rewrite = flag.Bool("rewrite", false, "write the golden files instead of comparing with them")

// Golden compares got with a file below testdata. With -rewrite it writes the file.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *Rewrite {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got, -rewrite accepts):\n%s", path, diff)
	}
}
