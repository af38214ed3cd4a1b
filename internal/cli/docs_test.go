// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/internal/cli/clitest"
	"github.com/reeve-run/reeve/internal/cli/term"
)

//go:generate go test . -run TestCommandReference -rewrite

// TestCommandReference checks that docs/cli.md is made from the commands as
// they are; -rewrite makes it.
func TestCommandReference(t *testing.T) {
	const path = "../../docs/cli.md"
	got := commandReference()
	if *clitest.Rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what the commands say (-want +got, -rewrite accepts):\n%s", path, diff)
	}
}

// TestExitCodesAreDocumented checks that every command with exit codes of its
// own has its place in docs/exit-codes.md.
func TestExitCodesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/exit-codes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range documented(testRoot()) {
		name := strings.TrimPrefix(cmd.CommandPath(), "reeve ")
		isRollout := slices.ContainsFunc([]string{"plan ", "instance ", "deployment ", "job restart"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if (isRollout || cmd.Annotations[annotationExitCodes] != "") && !bytes.Contains(text, []byte("`"+name+"`")) {
			t.Errorf("docs/exit-codes.md does not mention `%s`", name)
		}
	}
}

// TestEveryCommandIsDescribed checks the form of the help texts.
func TestEveryCommandIsDescribed(t *testing.T) {
	for _, cmd := range documented(testRoot()) {
		path := cmd.CommandPath()
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: the short text is a phrase without a full stop, not %q", path, cmd.Short)
		}
		for _, line := range strings.Split(cmd.Long, "\n") {
			if len(line) > 80 {
				t.Errorf("%s: the long text has a line of %d characters: %q", path, len(line), line)
			}
		}
	}
}

func testRoot() *cobra.Command {
	return (&cli{Process: Process{Getenv: func(string) string { return "" }}}).root()
}

// documented are the commands of the reference: those that help lists, and the
// examples' programs.
func documented(root *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	var walk func(*cobra.Command)
	walk = func(parent *cobra.Command) {
		for _, cmd := range parent.Commands() {
			switch {
			case cmd.Name() == "help", cmd.Name() == "completion", cmd.Hidden && !strings.HasPrefix(cmd.Name(), "example-"):
				continue
			}
			all = append(all, cmd)
			walk(cmd)
		}
	}
	walk(root)
	return all
}

func commandReference() string {
	var b strings.Builder
	b.WriteString(referenceIntroduction)
	root := testRoot()
	fmt.Fprintf(&b, "## reeve\n\n```\n%s```\n", helpOf(root))
	for _, cmd := range documented(root) {
		level := strings.Repeat("#", 1+strings.Count(cmd.CommandPath(), " "))
		fmt.Fprintf(&b, "\n%s %s\n\n```\n%s```\n", level, cmd.CommandPath(), helpOf(cmd))
	}
	return b.String()
}

func helpOf(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	var b bytes.Buffer
	writeHelp(&b, cmd, term.Style{})
	text, _, _ := strings.Cut(b.String(), "\n\"reeve -help\" lists")
	return text
}

const referenceIntroduction = `# Commands

This page is generated from the commands' help; ` + "`go generate ./internal/cli`" + ` regenerates it.

- Flags take one dash or two, before or after the arguments.
- Commands accept a unique prefix of an id, also of a job's id.
- Commands write results to stdout, and progress and errors to stderr.
- Every command that reads objects has ` + "`-json`" + ` and ` + "`-t TEMPLATE`" + `, a Go template over the same object. Field names are those of the
  Go types: ` + "`-json`" + ` shows ` + "`TaskGroups`" + `, a template uses ` + "`.Groups`" + `. Templates can call ` + "`json`, `short` (an id's first eight\n  characters), `join SEP LIST`, `upper`, `lower`, `time` and `age` (of Unix nanoseconds), `addresses` (of an allocation's ports)" + `.
- ` + "`run`, `stop`, `init`, `validate`, `inspect`, `fmt`, `logs`, `exec` and `fs`" + ` also work without ` + "`job`" + ` or ` + "`alloc`" + ` before them.
- ` + "`reeve completion bash`" + ` (or zsh, fish, powershell) prints a script that completes commands, flags and ids.
- Output has no colours if stdout is not a terminal, with ` + "`-no-color`" + `, and if ` + "`NO_COLOR`" + ` is set.
- Exit codes are in [exit-codes.md](exit-codes.md).

`
