// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package reeve_test

import (
	"cmp"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

const designPage = "docs/design/README.md"

func TestDesignPageListsEveryPackage(t *testing.T) {
	packages := map[string]bool{}
	for _, s := range sources(t) {
		if strings.HasPrefix(s.dir, "internal/") {
			packages[s.dir] = true
		}
	}
	listed := map[string]bool{}
	for name := range roomsOf(section(t, "## Packages")) {
		if strings.HasPrefix(name, "internal/") {
			listed[name] = true
		}
	}
	if diff := gocmp.Diff(packages, listed); diff != "" {
		t.Errorf("%s: the list of packages is not what the tree holds (-tree +page):\n%s", designPage, diff)
	}
}

// TestPagesShowBlocksThatParse checks that no page shows a block with two attributes on one line, which HCL
// rejects.
func TestPagesShowBlocksThatParse(t *testing.T) {
	twoAttributes := regexp.MustCompile(`\w+( "[^"]*")* \{ *\w+ *= *("[^"]*"|[^ "{}]+) *,? +\w+ *= `)
	if !twoAttributes.MatchString(`shift { policy = "linear"  over = "30s" }`) || twoAttributes.MatchString(`port "http" { static = 80 }`) {
		t.Fatal("the pattern does not find what it is for")
	}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages:", err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if twoAttributes.MatchString(line) {
				t.Errorf("%s:%d: HCL rejects a block with two attributes on one line: %s", page, i+1, line)
			}
		}
	}
}

// roomsOf returns the packages that the code blocks of a text list. An indented line
// continues the path of the last line that is not indented.
func roomsOf(text string) map[string]bool {
	rooms := map[string]bool{}
	room, isCode := "", false
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case strings.HasPrefix(line, "```"):
			isCode = !isCode
			continue
		case !isCode || strings.HasSuffix(strings.TrimSpace(name), ".go"):
			continue
		case strings.HasPrefix(line, "  "):
			name = room + "/" + name
		default:
			room = name
		}
		rooms[name] = true
	}
	return rooms
}

// columns are the directories of the files in the columns of the noun tables.
var columns = map[string]string{"HTTP routes": "internal/httpapi", "commands": "internal/cli", "file": "internal/placement"}

func TestNounTablesNameFilesThatExist(t *testing.T) {
	quoted := regexp.MustCompile("`([\\w./*-]+(?:\\.go|/))`")
	var heads []string
	found := 0
	for line := range strings.Lines(section(t, "## Where to find a noun")) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			heads = nil
			continue
		}
		if heads == nil {
			heads = cells
		}
		for i, cell := range cells {
			dir := cmp.Or(columns[strings.TrimSpace(heads[min(i, len(heads)-1)])], ".")
			for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
				name := strings.TrimSuffix(m[1], "/")
				at := slices.IndexFunc([]string{dir + "/", "", "internal/", "internal/server/"}, func(prefix string) bool {
					files, err := filepath.Glob(prefix + name)
					if len(files) > 0 && strings.Contains(prefix+name, "/") {
						dir = filepath.Dir(prefix + name) // later files of the cell are beside this one
						found++
						return true
					}
					return err != nil
				})
				if at < 0 {
					t.Errorf("%s: row%s: no file is named %s", designPage, cells[1], m[1])
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("%s: the tables name %d files, want many more: the test reads them wrongly", designPage, found)
	}
}

// TestPagesNameTestsThatExist keeps the names right that the design pages give as proofs.
func TestPagesNameTestsThatExist(t *testing.T) {
	exist := make(map[string]bool)
	for _, s := range sources(t) {
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				exist[f.Name.Name] = true
			}
		}
	}
	quoted := regexp.MustCompile("`((?:Test|Benchmark|Fuzz)[A-Z]\\w*)`")
	pages, err := filepath.Glob("docs/design/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
			if found++; !exist[m[1]] {
				t.Errorf("%s: no test is named %s", page, m[1])
			}
		}
	}
	if found < 30 {
		t.Errorf("the pages name %d tests, want many more: this test reads them wrongly", found)
	}
}

// section returns the text of the design page under a heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	page, err := os.ReadFile(designPage)
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), heading+"\n")
	if !ok {
		t.Fatalf("%s: has no heading %q", designPage, heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}
