// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"strings"
	"testing"
)

// TestFieldsThatDoNotExist uses the names of metadata on other values.
func TestFieldsThatDoNotExist(t *testing.T) {
	for text, want := range map[string][2]string{ // lenient, strict
		`{{(parseJSON "{}").Metadata}}`:                      {"<no value>", `map has no entry for key "Metadata"`},
		`{{.Metadata}}`:                                      {"<no value>", "no field Metadata"},
		`{{(splitToMap "," "=" "a=b").Parent}}`:              {"", `map has no entry for key "Parent"`},
		`{{range nomadService "db"}}{{.Parent.Name}}{{end}}`: {"no field Parent", "no field Parent"},
		`{{(nomadVar "nomad/jobs/web").Metadata.Secret}}`:    {"can't evaluate field Secret", "can't evaluate field Secret"},
		`{{"text".Metadata}}`:                                {"unexpected", "unexpected"},
	} {
		for n, strict := range []bool{false, true} {
			parsed, err := Parse(text, Options{Strict: strict})
			var r Result
			if err == nil {
				r, err = parsed.Render(testValues, DefaultLimits)
			}
			got := string(r.Output)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, want[n]) || strings.Contains(got, fnField) || want[n] == "" && got != "" {
				t.Errorf("%s (strict: %v): %q; want %q", text, strict, got, want[n])
			}
		}
	}
}
