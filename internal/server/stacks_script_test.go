// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

var rewrite = flag.Bool("rewrite", false, "write the output of the commands into the scripts of testdata/stacks instead of comparing")

// TestStackCases runs the scripts of testdata/stacks: a script per case of
// docs/design/stacks.md, each against a server with virtual time and fake nodes. A script
// consists of commands (described in stacks_script_verbs_test.go). A line "----" and the
// command's output follow each command, up to an empty line. Lines that begin with # are
// comments.
func TestStackCases(t *testing.T) {
	files, err := filepath.Glob("testdata/stacks/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			var cfg server.Config
			if strings.Contains(string(want), "\ndown ") {
				cfg.DataDir = t.TempDir() // slower: the log on disk has timers of milliseconds
			}
			bubble.Test(t, func(t *testing.T) { got = runStackScript(t, cfg, string(want)) })
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the script prints something else (-want +got); run with -rewrite if that is right:\n%s", diff)
			}
		})
	}
}

// runStackScript returns the script with what its commands print now.
func runStackScript(t *testing.T, cfg server.Config, script string) string {
	w := &stackWorld{t: t, namespace: "dev", broken: make(map[string]bool)}
	w.cluster = start(t, cfg)
	defer func() { w.close() }()
	var out, command strings.Builder
	lines := strings.Split(strings.TrimRight(script, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		switch line := lines[i]; {
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
	if command.Len() > 0 {
		t.Fatalf("no line ---- follows the command %q", command.String())
	}
	return out.String()
}

// A stackWorld is the server of a script, with its nodes.
type stackWorld struct {
	t *testing.T
	*cluster
	namespace string // of the commands that name none

	mu     sync.Mutex
	broken map[string]bool // reports for each UNIT@VERSION whether its new instances are not healthy
}

// instance says how an instance runs on the fake nodes.
func (w *stackWorld) instance(a *api.Allocation, job *api.Job) []event {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case job.RunsToCompletion():
		return []event{{status: api.AllocClientRunning}, {after: childRuns, status: api.AllocClientComplete}}
	case w.broken[shortStack(a.JobID)]:
		return []event{{status: api.AllocClientRunning}, {status: api.AllocClientRunning, healthy: healthy(true), unready: true}}
	}
	return []event{{status: api.AllocClientRunning}, {status: api.AllocClientRunning, healthy: healthy(true)}}
}
