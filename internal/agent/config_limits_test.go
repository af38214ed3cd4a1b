// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/internal/limit"
)

func TestTheConfigurationOfLimits(t *testing.T) {
	load := func(texts ...string) (Config, error) {
		var paths []string
		for _, text := range texts {
			path := filepath.Join(t.TempDir(), "agent.hcl")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path)
		}
		return LoadConfig(paths)
	}
	plan := limit.Plan.Default()
	for _, c := range []struct {
		what  string
		files []string
		want  Limits
	}{
		{"none", []string{""}, nil},
		{"an empty block", []string{"limits {}"}, nil},
		{"a rate", []string{"limits {\n rate \"plan\" {\n per_second = 2.5\n }\n}"}, Limits{limit.Plan: {PerSecond: 2.5, Burst: plan.Burst}}},
		{"a burst", []string{"limits {\n rate \"plan\" {\n burst = 7\n }\n}"}, Limits{limit.Plan: {PerSecond: plan.PerSecond, Burst: 7}}},
		{"no limit", []string{"limits {\n rate \"login\" {\n per_second = 0\n }\n}"}, Limits{limit.Login: {Burst: limit.Login.Default().Burst}}},
		{"two files", []string{"limits {\n rate \"exec\" {\n per_second = 1\n }\n}", "limits {\n rate \"exec\" {\n burst = 2\n }\n}"}, Limits{limit.Exec: {PerSecond: 1, Burst: 2}}},
	} {
		got, err := load(c.files...)
		if d := cmp.Diff(got.Limits, c.want); err != nil || d != "" {
			t.Errorf("%s: %v (-got +want)\n%s", c.what, err, d)
		}
	}
	for text, want := range map[string]string{
		"rate \"plans\" {}":                      `rate "plans": the classes of requests are "login", "token"`,
		"rate \"plan\" {\nper_second = -1\n}":    "per_second = -1: must be from 0.01",
		"rate \"plan\" {\nper_second = 1e9\n}":   "or 0 for no limit",
		"rate \"plan\" {\nburst = 0\n}":          "burst = 0: must be from 1 to 1000000",
		"rate \"plan\" {\nburst = 2000000\n}":    "must be from 1 to",
		"rate \"plan\" {\nburst = 1.5\n}":        "agent.hcl:3",
		"rate {\n}":                              "agent.hcl:2",
		"http_max_conns_per_client = 100":        "agent.hcl:2:1: Unsupported argument",
		"rate \"plan\" {\nper_second = 1e-12\n}": "must be from 0.01",
	} {
		if _, err := load("limits {\n" + text + "\n}"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
}
