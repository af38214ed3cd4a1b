// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files instead of comparing with them")

// golden compares got with a file, or writes it.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (make it with go test ./jobspec -rewrite)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("differs from %s (-want +got):\n%s", path, diff)
	}
}

// dump is a value as JSON without everything that is unset.
func dump(t *testing.T, v any) []byte {
	t.Helper()
	out, err := json.MarshalIndent(set(reflect.ValueOf(v)), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

// set keeps what is set: a pointer to zero is, a plain zero is not.
func set(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		return set(v.Elem())
	case reflect.Struct:
		out := map[string]any{}
		for i := range v.NumField() {
			if key := jsonKey(v.Type().Field(i)); key != "" && !v.Field(i).IsZero() {
				out[key] = set(v.Field(i))
			}
		}
		return out
	case reflect.Slice:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = set(v.Index(i))
		}
		return out
	case reflect.Map:
		if v.Type().Elem().Kind() != reflect.Pointer {
			return v.Interface()
		}
		out := map[string]any{}
		for it := v.MapRange(); it.Next(); {
			out[it.Key().String()] = set(it.Value())
		}
		return out
	}
	return v.Interface()
}

func corpus(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files match %s: %v", pattern, err)
	}
	return files
}

func TestJobFilesBecomeTheExpectedJobs(t *testing.T) {
	for _, path := range corpus(t, "testdata/*.hcl") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			job, err := ParseFile(path, Options{AllowFS: true, Strict: true})
			if err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(path, ".hcl")+".json", dump(t, job))
		})
	}
}

// The JSON twin of every job file is the job as an API client would send it.
func TestJobsSurviveTheirOwnJSON(t *testing.T) {
	for _, path := range corpus(t, "testdata/*.hcl") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			job, err := ParseFile(path, Options{AllowFS: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, wrap := range []func(*api.Job) any{
				func(j *api.Job) any { return j },
				func(j *api.Job) any { return map[string]any{"Job": j, "EnforceIndex": true} },
			} {
				text, err := json.Marshal(wrap(job))
				if err != nil {
					t.Fatal(err)
				}
				again, err := Parse(Source{Name: "job.json", Text: text}, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(job, again); diff != "" {
					t.Errorf("the job changed (-HCL +JSON):\n%s", diff)
				}
			}
		})
	}
}

func TestTwinsInOtherSyntaxesGiveTheSameJob(t *testing.T) {
	for _, path := range corpus(t, "testdata/twins/*.*") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			base := filepath.Base(path)
			want, err := ParseFile(filepath.Join("testdata", strings.TrimSuffix(base, filepath.Ext(base))+".hcl"), Options{AllowFS: true})
			if err != nil {
				t.Fatal(err)
			}
			got, err := ParseFile(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the twin differs (-HCL +%s):\n%s", filepath.Ext(path), diff)
			}
		})
	}
}

func TestBrokenFilesSayWhatIsWrong(t *testing.T) {
	for _, path := range corpus(t, "testdata/broken/*.*") {
		if filepath.Ext(path) == ".err" {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			job, err := Parse(Source{Name: filepath.Base(path), Text: text}, Options{BaseDir: "testdata", AllowFS: true})
			if err == nil {
				t.Fatalf("no error, but a job:\n%s", dump(t, job))
			}
			if api.CodeOf(err) != api.CodeInvalid {
				t.Errorf("the error has code %q, want %q", api.CodeOf(err), api.CodeInvalid)
			}
			golden(t, path+".err", append([]byte(err.Error()), '\n'))
		})
	}
}

// What a whole job is refused for is shown where its file says it.
func TestRefusedJobsSayWhere(t *testing.T) {
	for _, path := range corpus(t, "testdata/refused/*.*") {
		if filepath.Ext(path) == ".err" {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			job, places, err := ParseWithPlaces(Source{Name: filepath.Base(path), Text: text}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			whole := job.Copy()
			whole.Canonicalize()
			err = places.Explain(whole.Validate())
			if api.CodeOf(err) != api.CodeInvalid {
				t.Errorf("the error has code %q, want %q", api.CodeOf(err), api.CodeInvalid)
			}
			golden(t, path+".err", []byte(err.Error()+"\n"))
		})
	}
}

func TestFormatIsStableAndKeepsTheMeaning(t *testing.T) {
	for _, path := range corpus(t, "testdata/*.hcl") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			once, err := Format(src, path)
			if err != nil {
				t.Fatal(err)
			}
			twice, err := Format(once, path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(once, twice) {
				t.Errorf("formatting again changes the file:\n%s", cmp.Diff(string(once), string(twice)))
			}
			if diff := cmp.Diff(string(src), string(once)); diff != "" {
				t.Errorf("the corpus is not formatted (-file +formatted):\n%s", diff)
			}
		})
	}
}

// What is in the corpus is not only read: it is a job that a server takes, apart
// from what it refuses by name.
func TestTheCorpusIsValid(t *testing.T) {
	for _, path := range corpus(t, "testdata/*.hcl") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			job, err := ParseFile(path, Options{AllowFS: true})
			if err != nil {
				t.Fatal(err)
			}
			job.Canonicalize()
			if err := job.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}
