// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "write what happens into the scripts instead of comparing")

// TestScripts runs the scripts in the folders of testdata: a folder per plan, and
// some for topics that concern several plans. A script consists of commands
// (described in commands_test.go). A line "----" and the command's output follow
// each command, up to an empty line. Lines that begin with # are comments.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		name := strings.TrimPrefix(filepath.ToSlash(file), "testdata/")
		t.Run(strings.TrimSuffix(name, ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := runScript(t, string(want))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the script comes out otherwise (-want +got); run with -rewrite if that is right:\n%s", diff)
			}
		})
	}
}

// runScript returns the script with what its commands print now.
func runScript(t *testing.T, script string) string {
	w := newWorld(t)
	var out, command strings.Builder
	lines := strings.Split(strings.TrimRight(script, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case line == "----":
			for i+1 < len(lines) && lines[i+1] != "" {
				i++
			}
			out.WriteString("----\n" + w.run(command.String()))
			command.Reset()
		case strings.HasPrefix(line, "#"), line == "":
			out.WriteString(line + "\n")
		default:
			out.WriteString(line + "\n")
			command.WriteString(line + "\n")
		}
	}
	return out.String()
}
