// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// TestStepsRunBeforeTheProgramIsInitialized starts a step in front of a task as the supervisor does: each start of a
// task waits for what the binary initializes before.
func TestStepsRunBeforeTheProgramIsInitialized(t *testing.T) {
	initialized := func(word string) map[string]bool {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), reeve, word)
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("reeve %s: %v\n%s", word, err, out)
		}
		packages := map[string]bool{}
		for _, line := range regexp.MustCompile(`(?m)^init (\S+) @`).FindAllSubmatch(out, -1) {
			packages[string(line[1])] = true
		}
		return packages
	}
	const late = "github.com/reeve-run/reeve/api"
	if all := initialized("version"); !all[late] || !all["net/http"] {
		t.Fatalf("the trace of a whole start has %d packages, and not %s", len(all), late)
	}
	if step := initialized("supervise-idle"); step[late] || step["net/http"] || !step["os"] {
		t.Errorf("a step initializes %d packages first: %v", len(step), step)
	}
}
