// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// seed gives a fuzz target the corpus's files with an extension.
func seed(f *testing.F, patterns ...string) {
	f.Helper()
	for _, pattern := range patterns {
		for _, path := range corpus(f, pattern) {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
}

// check parses: never a panic, and either a job that can be sent, or an *Error
// whose every problem lies in the text.
func check(t *testing.T, syntax Syntax, text []byte) {
	job, err := Parse(Source{Name: "job", Text: text, Format: syntax}, Options{})
	if err == nil {
		if _, err := json.Marshal(job); err != nil {
			t.Fatalf("the job cannot be sent: %v", err)
		}
		return
	}
	var e *Error
	if !errors.As(err, &e) || len(e.Problems) == 0 {
		t.Fatalf("the error is a %T, want an *Error with problems", err)
	}
	for _, p := range e.Problems {
		if strings.Contains(p.Message, "panic") && !bytes.Contains(text, []byte("panic")) {
			t.Fatalf("a function panicked: %s", p.Message)
		}
		if p.Message == "" || p.File == "job" && (p.Line < 1 || p.Column < 1) {
			t.Fatalf("a problem has no message or no place: %+v", p)
		}
	}
}

func FuzzHCL(f *testing.F) {
	seed(f, filepath.Join("testdata", "*.hcl"), filepath.Join("testdata", "broken", "*.hcl"))
	f.Fuzz(func(t *testing.T, text []byte) { check(t, FormatHCL, text) })
}

func FuzzJSON(f *testing.F) {
	seed(f, filepath.Join("testdata", "*.json"), filepath.Join("testdata", "*", "*.json"))
	f.Fuzz(func(t *testing.T, text []byte) { check(t, FormatJSON, text) })
}

func FuzzYAML(f *testing.F) {
	seed(f, filepath.Join("testdata", "twins", "*.y*ml"), filepath.Join("testdata", "broken", "*.yaml"))
	f.Fuzz(func(t *testing.T, text []byte) { check(t, FormatYAML, text) })
}

func FuzzFormat(f *testing.F) {
	seed(f, filepath.Join("testdata", "*.hcl"))
	f.Fuzz(func(t *testing.T, text []byte) {
		once, err := Format(text, "job")
		if err != nil {
			return
		}
		if _, err := Format(once, "job"); err != nil {
			t.Fatalf("the formatted file has an error: %v\n%s", err, once)
		}
	})
}
