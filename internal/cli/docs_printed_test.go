// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPrintedCommandsExist reads the commands of all pages' console blocks: each names a command with flags that it has, and
// the examples that it names exist.
func TestPrintedCommandsExist(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"../../README.md", "../../docs/*.md", "../../docs/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	read := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for line, words := range printedCommands(string(text)) {
			read++
			if err := checkPrinted(words); err != nil {
				t.Errorf("%s:%d: reeve %s: %v", strings.TrimPrefix(page, "../../"), line, strings.Join(words, " "), err)
			}
		}
	}
	if read < 50 {
		t.Errorf("the pages have %d commands", read)
	}
}

// word is a word of a shell's line, possibly quoted.
var word = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)

// printedCommands yields the arguments of reeve in the console blocks of a page, with their line numbers.
func printedCommands(page string) func(yield func(int, []string) bool) {
	return func(yield func(int, []string) bool) {
		console := false
		for n, line := range strings.Split(page, "\n") {
			if fence, ok := strings.CutPrefix(strings.TrimSpace(line), "```"); ok {
				console = fence == "console" || fence == "sh" || fence == "bash"
				continue
			}
			command, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(line), "$ "), "reeve ")
			if !console || !ok {
				continue
			}
			command, _, _ = strings.Cut(command, " #")
			for _, end := range []string{" | ", " && ", " > ", " < ", " &", "; "} {
				command, _, _ = strings.Cut(command, end)
			}
			if strings.HasSuffix(command, `\`) || strings.Contains(command, "$(") || strings.Contains(command, "...") {
				continue // it continues in another line, or only shows its form
			}
			var words []string
			for _, w := range word.FindAllString(command, -1) {
				words = append(words, strings.Trim(w, `'"`))
			}
			if !yield(n+1, words) {
				return
			}
		}
	}
}

// checkPrinted reports why the command line would be rejected.
func checkPrinted(words []string) error {
	root := testRoot()
	cmd, rest, err := root.Find(normaliseArgs(root, words))
	if err != nil {
		return err
	}
	if len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && cmd.HasSubCommands() {
		return fmt.Errorf("%s has no command %q", cmd.CommandPath(), rest[0])
	}
	cmd.InitDefaultHelpFlag()
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	for _, arg := range cmd.Flags().Args() {
		if strings.HasPrefix(arg, "examples/") {
			if _, err := os.Stat("../../" + arg); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestPrintedCommandsAreReadStrictly(t *testing.T) {
	for line, ok := range map[string]bool{
		"job run -detach examples/web.hcl": true, "run -var 'a=b c' web.hcl": true,
		"job rnu web.hcl": false, "job run -nope web.hcl": false, "job run examples/none.hcl": false, "joob": false,
	} {
		for n, words := range printedCommands("```console\n$ reeve " + line + "  # why\n```\nreeve nothing") {
			if err := checkPrinted(words); (err == nil) != ok || n != 2 {
				t.Errorf("%s: line %d, %v", line, n, err)
			}
		}
	}
}
