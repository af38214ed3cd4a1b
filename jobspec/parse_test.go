// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

func TestFormatIsFoundByExtensionThenContent(t *testing.T) {
	cases := []struct {
		name, text string
		want       Syntax
	}{
		{"a.hcl", `{`, FormatHCL},
		{"a.nomad", ``, FormatHCL},
		{"A.JSON", ``, FormatJSON},
		{"a.yml", ``, FormatYAML},
		{"a.yaml", ``, FormatYAML},
		{"-", "\n { \"ID\": 1 }", FormatJSON},
		{"-", "# x\nid: web\n", FormatYAML},
		{"-", "---\ntask_groups:\n  - name: a\n", FormatYAML},
		{"-", "job \"web\" {\n  # note: this\n}\n", FormatHCL},
		{"-", "", FormatHCL},
	}
	for _, c := range cases {
		if got := DetectFormat(Source{Name: c.name, Text: []byte(c.text)}); got != c.want {
			t.Errorf("%s with %q is %q, want %q", c.name, c.text, got, c.want)
		}
	}
	if got := DetectFormat(Source{Name: "a.json", Format: FormatYAML}); got != FormatYAML {
		t.Errorf("what the source says does not win: %q", got)
	}
}

func TestErrorsAreAPIErrorsToo(t *testing.T) {
	_, err := Parse(Source{Name: "j.hcl", Text: []byte("job \"j\" {\n  typ = 1\n  prio = 2\n}\n")}, Options{})
	var e *api.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T is no *api.Error", err)
	}
	want := &api.Error{Code: api.CodeInvalid, Message: "the job file has 2 errors", Detail: []string{
		`j.hcl:2:3: job "j" has no argument "typ"; did you mean "type"?`,
		`j.hcl:3:3: job "j" has no argument "prio"; did you mean "priority"?`,
	}}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

func TestReadingFilesNeedsLeave(t *testing.T) {
	for _, call := range []string{`file("x")`, `filebase64("x")`, `fileexists("x")`, `join("", fileset(".", "*"))`, `abspath(".")`, `pathexpand("~")`} {
		_, err := Parse(Source{Name: "j.hcl", Text: fmt.Appendf(nil, "job \"j\" {\n  meta {\n    a = %s\n  }\n}\n", call)}, Options{BaseDir: "testdata"})
		if err == nil || !strings.Contains(err.Error(), "reading files is not allowed here") {
			t.Errorf("%s: error is %v", call, err)
		}
	}
}

func TestParseFileSaysThatThereIsNone(t *testing.T) {
	_, err := ParseFile("testdata/none.hcl", Options{})
	if want := "read job file: open testdata/none.hcl: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %q", err, want)
	}
}

// Small files must not cost much memory, time or stack, whoever wrote them.
func TestHostileFilesAreRefused(t *testing.T) {
	deep := func(open, middle, closing string) string {
		const n = 20_000
		return strings.Repeat(open, n) + middle + strings.Repeat(closing, n)
	}
	doubling := "locals {\n  a0 = \"0123456789abcdef\"\n"
	for i := range 60 {
		doubling += fmt.Sprintf("  a%d = \"${local.a%d}${local.a%d}\"\n", i+1, i, i)
	}
	lists := "locals {\n  a0 = [1]\n"
	for i := range 60 {
		lists += fmt.Sprintf("  a%d = [local.a%d, local.a%d]\n", i+1, i, i)
	}
	aliases := "a0: &a0 [x]\n"
	for i := range 40 {
		aliases += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}
	meta := func(expr string) string { return "job \"j\" {\n  meta {\n    a = " + expr + "\n  }\n}\n" }
	cases := map[string]struct {
		text   string
		syntax Syntax
	}{
		"brackets":            {meta(deep("[", "1", "]")), FormatHCL},
		"parentheses":         {meta(deep("(", "1", ")")), FormatHCL},
		"blocks":              {deep("a {\n", "", "}\n"), FormatHCL},
		"templates":           {meta(deep("\"${", "1", "}\"")), FormatHCL},
		"negations":           {meta(deep("!", "true", "")), FormatHCL},
		"minus signs":         {meta(deep("-", "1", "")), FormatHCL},
		"conditionals":        {meta(deep("true ? 1 : ", "2", "")), FormatHCL},
		"additions":           {meta(deep("1+", "1", "")), FormatHCL},
		"additions on lines":  {meta("(" + deep("1+\n", "1", "") + ")"), FormatHCL},
		"indexes":             {meta("[]" + deep("[0]", "", "")), FormatHCL},
		"directives":          {meta("<<E\n" + deep("%{if true}", "", "%{endif}") + "\nE"), FormatHCL},
		"texts that double":   {doubling + "}\n" + meta("local.a60"), FormatHCL},
		"lists that double":   {lists + "}\n" + meta("length(local.a60)"), FormatHCL},
		"wide format":         {meta(`format("%999999999d", 1)`), FormatHCL},
		"wide format, spread": {meta(`format(["%999999999d", 1]...)`), FormatHCL},
		"deep indent":         {meta(`indent(999999999, "a\nb")`), FormatHCL},
		"large product":       {meta(`length(setproduct(range(1000), range(1000), range(1000)))`), FormatHCL},
		"large range":         {meta(`length(range(0, 1e12))`), FormatHCL},
		"large number":        {meta(`1e2000000000`), FormatHCL},
		"slow hash":           {meta(`bcrypt("x", 31)`), FormatHCL},
		"large number, json":  {meta(`jsondecode("1e2000000000")`), FormatHCL},
		"json brackets":       {deep("[", "", "]"), FormatJSON},
		"json objects":        {deep(`{"a":`, "1", "}"), FormatJSON},
		"yaml brackets":       {deep("[", "", "]"), FormatYAML},
		"yaml braces":         {deep("{a: ", "", "}"), FormatYAML},
		"yaml dashes":         {deep("- ", "x", ""), FormatYAML},
		"yaml aliases":        {aliases, FormatYAML},
		"yaml own alias":      {"a: &a [*a]\n", FormatYAML},
		"too large":           {strings.Repeat("#", MaxSize+1), FormatHCL},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(Source{Name: "j", Text: []byte(c.text), Format: c.syntax}, Options{})
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error is %v, want an *Error", err)
			}
			if n := len(err.Error()); n > 10_000 {
				t.Errorf("the error has %d bytes", n)
			}
		})
	}
}

func TestDurationsMayBeNumbersAsInTheAPI(t *testing.T) {
	job, err := Parse(Source{Name: "j.hcl", Text: []byte("job \"j\" {\n  update {\n    stagger = 30000000000\n    progress_deadline = 0\n  }\n}\n")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if *job.Update.Stagger != 30e9 || *job.Update.ProgressDeadline != 0 {
		t.Errorf("stagger is %v, progress deadline %v", *job.Update.Stagger, *job.Update.ProgressDeadline)
	}
}

func TestFormatRefusesWhatDoesNotParse(t *testing.T) {
	_, err := Format([]byte("job \"j\" {\n"), "j.hcl")
	if want := "j.hcl:1:9: the block is not closed: a } is missing"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error is %v, want %q", err, want)
	}
	out, err := Format([]byte("job \"j\"   {\ntype=\"batch\"\n  priority   = 1\n}\n\n\n"), "j.hcl")
	if err != nil {
		t.Fatal(err)
	}
	if want := "job \"j\" {\n  type     = \"batch\"\n  priority = 1\n}\n"; string(out) != want {
		t.Errorf("formatted to %q, want %q", out, want)
	}
}
