// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/internal/limit"
)

var rewrite = flag.Bool("rewrite", false, "write the documents that come from the route table")

//go:embed testdata/api_intro.md
var intro string

func TestDocumentsAreFresh(t *testing.T) {
	table := routes()
	for path, want := range map[string][]byte{
		"../../docs/openapi.json": openAPI(table),
		"../../docs/api.md":       docsPage(table),
	} {
		if *rewrite {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(got), string(want)); diff != "" {
			t.Errorf("%s is not what the route table says; run `go generate ./internal/httpapi` (-is +should be):\n%s", path, diff)
		}
	}
}

// docsPage is the introduction, and the table by noun.
func docsPage(table []route) []byte {
	var page bytes.Buffer
	page.WriteString("<!-- Generated from internal/httpapi by `go generate ./internal/httpapi`. Do not edit. -->\n\n")
	page.WriteString(intro)
	var nouns []string
	byNoun := map[string][]*route{}
	for i := range table {
		noun := table[i].noun()
		if !slices.Contains(nouns, noun) {
			nouns = append(nouns, noun)
		}
		byNoun[noun] = append(byNoun[noun], &table[i])
	}
	for _, noun := range nouns {
		fmt.Fprintf(&page, "\n### %s\n\n| route | what it does | takes | body | answer | capability |\n|---|---|---|---|---|---|\n", noun)
		for _, r := range byNoun[noun] {
			fmt.Fprintf(&page, "| `%s %s` | %s | %s | %s | %s | %s |\n", r.Method, r.Pattern, r.Summary,
				takes(r), typeName(r.In, ""), typeName(r.Out, r.Stream), r.Capability)
		}
	}
	page.WriteString("\n### Parameters of single routes\n\n| parameter | meaning |\n|---|---|\n")
	names := make([]string, 0, len(paramDocs))
	for name := range paramDocs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&page, "| `%s` | %s |\n", name, paramDocs[name])
	}
	return page.Bytes()
}

func takes(r *route) string {
	var words []string
	if r.List {
		words = append(words, "list")
	}
	if r.Tables != nil {
		words = append(words, "blocks")
	}
	for _, name := range r.Params {
		words = append(words, "`"+name+"`")
	}
	if r.Class != limit.None {
		words = append(words, "limit "+r.Class.String())
	}
	return strings.Join(words, ", ")
}

func typeName(t reflect.Type, stream string) string {
	if t == nil {
		return stream
	}
	if stream == lines {
		return t.Name() + ", one a line"
	}
	return strings.NewReplacer("*api.", "", "api.", "", "httpapi.none", "").Replace(t.String())
}

func TestOpenAPIDocumentHoldsTogether(t *testing.T) {
	var document struct {
		OpenAPI    string
		Paths      map[string]map[string]any
		Components map[string]map[string]any
	}
	data := openAPI(routes())
	if err := json.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	if document.OpenAPI != "3.1.0" || len(document.Paths) < 50 {
		t.Errorf("version %s with %d paths", document.OpenAPI, len(document.Paths))
	}
	for _, m := range regexp.MustCompile(`"\$ref": "#/components/(\w+)/(\w+)"`).FindAllSubmatch(data, -1) {
		if document.Components[string(m[1])][string(m[2])] == nil {
			t.Errorf("%s refers to nothing", m[0])
		}
	}
	job, _ := document.Components["schemas"]["Job"].(map[string]any)
	properties, _ := job["properties"].(map[string]any)
	for _, name := range []string{"ID", "TaskGroups", "Periodic", "JobModifyIndex"} {
		if properties[name] == nil {
			t.Errorf("the schema of Job has no %s", name)
		}
	}
}

func TestTableIsWellFormed(t *testing.T) {
	used := map[string]bool{}
	ids := map[string]string{}
	for _, r := range routes() {
		where := r.Method + " " + r.Pattern
		if !strings.HasPrefix(r.Pattern, "/v1/") && !strings.HasPrefix(r.Pattern, "/.well-known/") || !strings.HasSuffix(r.Summary, ".") || r.Capability == "" {
			t.Errorf("%s: wants a pattern below /v1/ or /.well-known/, a sentence and a capability", where)
		}
		if other, taken := ids[r.operationID()]; taken {
			t.Errorf("%s: has the operation id of %s", where, other)
		}
		ids[r.operationID()] = where
		for _, name := range r.Params {
			used[name] = true
			if paramDocs[name] == "" {
				t.Errorf("%s: parameter %q is not described in paramDocs", where, name)
			}
		}
	}
	for name := range paramDocs {
		if !used[name] {
			t.Errorf("paramDocs describes %q, which no route takes", name)
		}
	}
}
