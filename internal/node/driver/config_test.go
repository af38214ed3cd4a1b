// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"testing"

	"github.com/reeve-run/reeve/internal/node/driver"
)

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
