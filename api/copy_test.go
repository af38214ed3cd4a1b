// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// richJob has a value of each kind that a copy must not share.
func richJob() *Job {
	j := &Job{
		ID: "web", Meta: map[string]string{"team": "a"}, Datacenters: []string{"dc1"},
		Groups: []*Group{{Name: "api", Tasks: []*Task{{
			Name: "server", Driver: "mock", Env: map[string]string{"A": "1"},
			Config: map[string]any{"args": []any{"x", map[string]any{"deep": "y"}}, "n": 1},
		}}}},
	}
	j.Canonicalize()
	return j
}

func TestACopySharesNothing(t *testing.T) {
	j, before := richJob(), richJob()
	c := j.Copy()
	if diff := cmp.Diff(before, c); diff != "" {
		t.Fatal("the copy differs:", diff)
	}
	task := c.Groups[0].Tasks[0]
	c.Meta["team"], c.Datacenters[0], *c.Groups[0].Count, task.Env["A"] = "b", "dc2", 99, "2"
	args := task.Config["args"].([]any)
	args[1].(map[string]any)["deep"] = "z"
	args[0] = "changed"
	if diff := cmp.Diff(before, j); diff != "" {
		t.Error("a change of the copy changed the original:", diff)
	}
}

func BenchmarkCopyJob(b *testing.B) {
	j := richJob()
	b.ReportAllocs()
	for b.Loop() {
		j.Copy()
	}
}
