// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package reeve_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const troublePage = "docs/troubleshooting.md"

// TestTroubleshootingQuotesTheProduct looks for the first column of the tables in the sources.
// Three dots separate the parts of a sentence.
func TestTroubleshootingQuotesTheProduct(t *testing.T) {
	text, err := os.ReadFile(troublePage)
	if err != nil {
		t.Fatal(err)
	}
	var product strings.Builder
	for _, root := range []string{"api", "client", "internal"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			product.Write(source)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	quotes := 0
	for i, line := range strings.Split(string(text), "\n") {
		cell, ok := strings.CutPrefix(line, "| `")
		quote, _, closed := strings.Cut(cell, "`")
		if !ok || !closed {
			continue
		}
		quotes++
		for part := range strings.SplitSeq(quote, "...") {
			if part = strings.TrimSpace(part); !strings.Contains(product.String(), part) {
				t.Errorf("%s:%d: nothing says %q", troublePage, i+1, part)
			}
		}
	}
	if quotes < 30 {
		t.Errorf("%s has %d sentences", troublePage, quotes)
	}
}
