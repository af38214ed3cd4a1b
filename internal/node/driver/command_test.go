// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/node/driver"
)

func TestLookCommand(t *testing.T) {
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
	for command, want := range map[string]string{
		"tool": local + "/tool", "other": bin + "/other", "bin/deep": local + "/bin/deep", "./tool": local + "/tool",
		"local/tool": local + "/tool", bin + "/tool": bin + "/tool", "data": bin + "/data",
	} {
		if got, err := driver.LookCommand(command, bin, local, base); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", command, got, err, want)
		}
	}
	for command, want := range map[string]string{
		"":              "config has no command",
		"nothing":       "command not found: nothing (looked in " + local + ", " + base + ", " + bin + ")",
		"/nothing":      "command not found: /nothing (looked in /nothing)",
		"local/data":    "is not executable (chmod +x it)",
		local:           "is a directory, not a command",
		"local/nothing": "command not found: local/nothing (looked in " + local + "/local/nothing, " + local + "/nothing)",
	} {
		if got, err := driver.LookCommand(command, bin, local, base); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v; want %q", command, got, err, want)
		}
	}
}

func TestConfigSaysWhichKeyIsWrong(t *testing.T) {
	task := &driver.Task{Config: map[string]any{"s": 1, "l": []any{"a", 2}, "n": "x", "b": "maybe", "d": "soon"}}
	_, s := task.ConfigString("s")
	_, l := task.ConfigStrings("l")
	_, n := task.ConfigInt("n")
	_, b := task.ConfigBool("b")
	_, d := task.ConfigDuration("d")
	for want, err := range map[string]error{
		"config s must be a string, not 1":                      s,
		"config l must be a list of strings; entry 2 is 2":      l,
		"config n must be a whole number, not x":                n,
		"config b must be true or false, not maybe":             b,
		"config d must be a duration such as \"10s\", not soon": d,
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
