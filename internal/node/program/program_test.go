// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package program_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/node/program"
)

func TestLook(t *testing.T) {
	base := t.TempDir()
	local, bin := filepath.Join(base, "local"), filepath.Join(base, "bin")
	for path, mode := range map[string]os.FileMode{
		"local/tool": 0o755, "local/bin/deep": 0o755, "bin/tool": 0o755, "bin/other": 0o755, "local/data": 0o644, "bin/data": 0o755,
	} {
		p := filepath.Join(base, path)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"tool": local + "/tool", "other": bin + "/other", "bin/deep": local + "/bin/deep", "./tool": local + "/tool",
		"local/tool": local + "/tool", bin + "/tool": bin + "/tool", "data": bin + "/data",
	} {
		if got, err := program.Look(name, bin, local, base); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"":              "config has no command",
		"nothing":       "command not found: nothing (looked in " + local + ", " + base + ", " + bin + ")",
		"/nothing":      "command not found: /nothing (looked in /nothing)",
		"local/data":    "is not executable (chmod +x it)",
		local:           "is a directory, not a command",
		"local/nothing": "command not found: local/nothing (looked in " + local + "/local/nothing, " + local + "/nothing)",
	} {
		if got, err := program.Look(name, bin, local, base); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v; want %q", name, got, err, want)
		}
	}
}
