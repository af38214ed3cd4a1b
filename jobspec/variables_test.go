// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const inputs = `
variable "image" { default = "default" }
variable "count" {
  type    = number
  default = 1
}
variable "zones" {
  type    = list(string)
  default = []
}
variable "limits" {
  type    = object({ cpu = number, memory = optional(number, 64) })
  default = { cpu = 1 }
}
variable "on" {
  type    = bool
  default = false
}
job "j" {
  meta {
    image  = var.image
    count  = var.count
    zones  = join("+", var.zones)
    memory = "${var.limits.cpu}/${var.limits.memory}"
    on     = var.on
  }
}
`

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestVariablesTakeTheirValueFromTheStrongestSource(t *testing.T) {
	hclFile := write(t, "a.hcl", "image = \"file\"\nzones = [\"x\", \"y\"]\nlimits = { cpu = 7, memory = 8 }\n")
	jsonFile := write(t, "b.json", `{"image": "json", "count": 5, "on": true}`)
	defaults := map[string]string{"image": "default", "count": "1", "zones": "", "memory": "1/64", "on": "false"}
	cases := []struct {
		name    string
		options Options
		changes map[string]string
	}{
		{"nothing given", Options{}, nil},
		{"the environment", Options{Env: []string{"NOMAD_VAR_image=nomad", "REEVE_VAR_count=3", "PATH=/bin", "REEVE_VAR_other=x", "odd"}},
			map[string]string{"image": "nomad", "count": "3"}},
		{"both environments", Options{Env: []string{"REEVE_VAR_image=reeve", "NOMAD_VAR_image=nomad"}}, map[string]string{"image": "reeve"}},
		{"text beats the environment", Options{Env: []string{"REEVE_VAR_image=env"}, VarText: `image = "text"`}, map[string]string{"image": "text"}},
		{"a file beats text", Options{VarText: `image = "text"`, VarFiles: []string{hclFile}},
			map[string]string{"image": "file", "zones": "x+y", "memory": "7/8"}},
		{"the later file wins", Options{VarFiles: []string{hclFile, jsonFile}},
			map[string]string{"image": "json", "zones": "x+y", "memory": "7/8", "count": "5", "on": "true"}},
		{"flags win", Options{VarFiles: []string{hclFile, jsonFile}, Vars: map[string]string{"image": "flag", "count": "9", "on": "false"}},
			map[string]string{"image": "flag", "zones": "x+y", "memory": "7/8", "count": "9", "on": "false"}},
		{"flags hold expressions where the type is no plain one", Options{Vars: map[string]string{"zones": `["a", "b"]`, "limits": `{ cpu = 2 }`}},
			map[string]string{"zones": "a+b", "memory": "2/64"}},
		{"plain text is not an expression", Options{Vars: map[string]string{"image": `upper("x")`}}, map[string]string{"image": `upper("x")`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.options.Strict = true
			job, err := Parse(Source{Name: "j.hcl", Text: []byte(inputs)}, c.options)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for k, v := range defaults {
				want[k] = v
			}
			for k, v := range c.changes {
				want[k] = v
			}
			if diff := cmp.Diff(want, job.Meta); diff != "" {
				t.Errorf("meta differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrongValuesOfVariablesNameTheirSource(t *testing.T) {
	wrong := write(t, "wrong.hcl", "count = [\n  1,\n]\nimgae = \"x\"\nblock {}\n")
	broken := write(t, "broken.json", "{ \"image\": }")
	cases := []struct {
		name    string
		options Options
		want    []string
	}{
		{"a flag of the wrong type", Options{Vars: map[string]string{"count": "many"}},
			[]string{`-var count: the variable "count" must be number, not the text "many": a number is required`}},
		{"a flag that is no expression", Options{Vars: map[string]string{"zones": "a, b"}}, []string{`-var zones:1:2: `}},
		{"an undeclared flag", Options{Strict: true, Vars: map[string]string{"imag": "x"}},
			[]string{`-var imag: the job file declares no variable "imag"; did you mean "image"?`}},
		{"an environment variable of the wrong type", Options{Env: []string{"REEVE_VAR_on=perhaps"}},
			[]string{`REEVE_VAR_on: the variable "on" must be bool, not the text "perhaps"`}},
		{"a file", Options{Strict: true, VarFiles: []string{wrong}},
			[]string{
				`wrong.hcl:5:1: a variable file holds only name = value lines`,
				`wrong.hcl:1:9: the variable "count" must be number, not a list`,
				`wrong.hcl:4:1: the job file declares no variable "imgae"; did you mean "image"?`,
			}},
		{"a broken JSON file", Options{VarFiles: []string{broken}}, []string{`broken.json:1:12: expected a value`}},
		{"a missing file", Options{VarFiles: []string{"/nowhere/x.hcl"}}, []string{`read variable file: open /nowhere/x.hcl: no such file`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse(Source{Name: "j.hcl", Text: []byte(inputs)}, c.options)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q:\n%s", want, err)
				}
			}
		})
	}
}

func TestUndeclaredValuesAreFineUnlessStrict(t *testing.T) {
	options := Options{Vars: map[string]string{"other": "x"}, VarText: "another = 1"}
	if _, err := Parse(Source{Name: "j.hcl", Text: []byte(inputs)}, options); err != nil {
		t.Fatal(err)
	}
}
