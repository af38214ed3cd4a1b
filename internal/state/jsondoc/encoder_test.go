// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jsondoc_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/jsondoc"
)

// TestAppendedTextMeansTheSame decodes the texts of Append and of encoding/json, and compares.
func TestAppendedTextMeansTheSame(t *testing.T) {
	d := newDecoder()
	for seed := range uint64(300) {
		f := filler{rand.New(rand.NewPCG(seed, 3))}
		sameMeaning(t, d, filled[api.Job](f))
		sameMeaning(t, d, filled[api.Node](f))
		sameMeaning(t, d, filled[api.Evaluation](f))
		sameMeaning(t, d, filled[api.Deployment](f))
		sameMeaning(t, d, filled[api.JobSubmission](f))
		sameMeaning(t, d, filled[api.Stack](f))
		sameMeaning(t, d, filled[embedding](f))
		sameMeaning(t, d, filled[tagged](f))
	}
	sameMeaning(t, d, &api.Job{Groups: []*api.Group{nil, {Tasks: []*api.Task{{Config: map[string]any{"a": map[string]int{"b": 1}, "c": []any(nil), "d": json.Number("1")}}}}}})
}

// tagged has fields of all kinds that encoding/json treats specially.
type tagged struct {
	Zero     float64
	Quoted   int            `json:",string"`
	Renamed  string         `json:"other-name"`
	Hidden   string         `json:"-"`
	Lists    []string       `json:",omitempty"`
	Texts    map[string]any `json:",omitempty"`
	Bytes    []byte
	Array    [2]int
	Numbered map[int]string
	Config   api.AutopilotConfig
	Version  *api.StackVersion
	Itself   *tagged
}

func sameMeaning[T any](t *testing.T, d *jsondoc.Decoder, v *T) {
	t.Helper()
	standard, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jsondoc.Append([]byte("kept"), v)
	if err != nil {
		t.Fatal(err)
	}
	if string(text[:4]) != "kept" || len(text)-4 > len(standard) {
		t.Fatalf("%d bytes, and encoding/json writes %d:\n%s\n%s", len(text)-4, len(standard), text, standard)
	}
	text = text[4:]
	want, got := new(T), new(T)
	if err := json.Unmarshal(standard, want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("means something else than the text of encoding/json:\n%s\n%s\n%s", cmp.Diff(want, got), text, standard)
	}
	if got, err = jsondoc.Decode[T](d, text); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("decoded as something else (%v):\n%s\n%s", err, cmp.Diff(want, got), text)
	}
	again, err := jsondoc.Append(nil, v)
	if err != nil || string(again) != string(text) {
		t.Fatalf("equal values have two texts (%v):\n%s\n%s", err, text, again)
	}
}

// TestAppendOmitsZeroFields guards the size of jobs in the log.
func TestAppendOmitsZeroFields(t *testing.T) {
	text, err := jsondoc.Append(nil, &api.Job{ID: "web", Datacenters: []string{}, Meta: map[string]string{"empty": ""}, Groups: []*api.Group{{Name: "web", Count: new(int)}}})
	if want := `{"ID":"web","Datacenters":[],"TaskGroups":[{"Name":"web","Count":0}],"Meta":{"empty":""}}`; err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
	if text, err := jsondoc.Append(nil, nil); err != nil || string(text) != "null" {
		t.Errorf("nil: %s, %v", text, err)
	}
}

// TestAppendRefusesWhatIsNotJSON expects the errors of encoding/json.
func TestAppendRefusesWhatIsNotJSON(t *testing.T) {
	for _, bad := range []any{math.NaN(), make(chan int), func() {}, map[string]any{"deep": []any{math.Inf(1)}}} {
		job := &api.Job{Groups: []*api.Group{{Tasks: []*api.Task{{Config: map[string]any{"bad": bad}}}}}}
		if text, err := jsondoc.Append(nil, job); err == nil {
			t.Errorf("%v became %s", bad, text)
		}
	}
}

// BenchmarkAppend encodes a job of one group and one task, as the log does.
func BenchmarkAppend(b *testing.B) {
	job := benchmarkJob()
	b.Run("standard", func(b *testing.B) {
		b.ReportAllocs()
		var size int
		for b.Loop() {
			text, err := json.Marshal(job)
			if err != nil {
				b.Fatal(err)
			}
			size = len(text)
		}
		b.ReportMetric(float64(size), "bytes")
	})
	b.Run("jsondoc", func(b *testing.B) {
		b.ReportAllocs()
		var size int
		for b.Loop() {
			text, err := jsondoc.Append(nil, job)
			if err != nil {
				b.Fatal(err)
			}
			size = len(text)
		}
		b.ReportMetric(float64(size), "bytes")
	})
	text, err := jsondoc.Append(nil, job)
	if err != nil || strings.Contains(string(text), "null") {
		b.Fatalf("%s, %v", text, err)
	}
	b.Run("decode", func(b *testing.B) {
		d := newDecoder()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := jsondoc.Decode[api.Job](d, text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
