// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package reeve_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// generatedPages are made from code, which has its own tests.
var generatedPages = []string{"docs/cli.md", "docs/api.md", "docs/benchmarks.md"}

// banned are words that hide the actor or the field's own term, with what to write
// instead. CONTRIBUTING.md explains the rules.
var banned = []struct {
	words   *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\b(anew)\b`), "again"},
	{regexp.MustCompile(`(?i)\b(go on|goes on|went on)\b`), "continue"},
	{regexp.MustCompile(`(?i)\b(whoever|whomever)\b`), "name the actor"},
	{regexp.MustCompile(`(?i)\b(worked out)\b`), "computed or evaluated"},
	{regexp.MustCompile(`(?i)\b(for ever)\b`), "indefinitely, or without limit"},
	{regexp.MustCompile(`(?i)\b(in vain)\b`), "needlessly"},
	{regexp.MustCompile(`(?i)\b(hardly ever)\b`), "rarely"},
	{regexp.MustCompile(`(?i)\b(makes no sense)\b`), "what is wrong"},
}

// TestPagesAreInPlainEnglish looks for banned words in the prose of the pages that
// people write: outside of code blocks and of literals.
func TestPagesAreInPlainEnglish(t *testing.T) {
	literal := regexp.MustCompile("`[^`]*`|\"[^\"]*\"")
	pages := handwrittenPages(t)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		code := false
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				code = !code
				continue
			}
			if code {
				continue
			}
			line = literal.ReplaceAllString(line, "")
			for _, b := range banned {
				if found := b.words.FindString(line); found != "" {
					t.Errorf("%s:%d: %q: write %s", page, i+1, found, b.instead)
				}
			}
		}
	}
	if len(pages) < 20 {
		t.Errorf("only %d pages were read: the walk is wrong", len(pages))
	}
}

// handwrittenPages lists README.md and the pages below docs that are not generated.
func handwrittenPages(t *testing.T) []string {
	t.Helper()
	pages := []string{"README.md"}
	err := filepath.WalkDir("docs", func(path string, d fs.DirEntry, err error) error {
		if path = filepath.ToSlash(path); err == nil && strings.HasSuffix(path, ".md") && !slices.Contains(generatedPages, path) {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}
