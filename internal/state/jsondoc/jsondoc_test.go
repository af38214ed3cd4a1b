// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jsondoc_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/jsondoc"
)

func newDecoder() *jsondoc.Decoder {
	return jsondoc.New(api.Restart{}, api.Reschedule{}, api.Update{}, api.Resources{}, api.Constraint{}, api.PlacementMetrics{})
}

// TestRandomObjectsAreEqual compares with encoding/json, over objects that share most of
// their parts.
func TestRandomObjectsAreEqual(t *testing.T) {
	d := newDecoder()
	for seed := range uint64(300) {
		f := filler{rand.New(rand.NewPCG(seed, 1))}
		same(t, d, filled[api.Job](f))
		same(t, d, filled[api.Node](f))
		same(t, d, filled[api.Evaluation](f))
		same(t, d, filled[api.Deployment](f))
		same(t, d, filled[api.JobSubmission](f))
	}
}

func same[T any](t *testing.T, d *jsondoc.Decoder, v *T) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	want := new(T)
	if err := json.Unmarshal(text, want); err != nil {
		t.Fatal(err)
	}
	got, err := jsondoc.Decode[T](d, text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("not what encoding/json returns:\n%s\n%s", cmp.Diff(want, got), text)
	}
}

// TestEqualPartsAreOneObject guards the memory of jobs with equal policies.
func TestEqualPartsAreOneObject(t *testing.T) {
	d := newDecoder()
	decode := func(id string) *api.Job {
		j, err := jsondoc.Decode[api.Job](d, []byte(fmt.Sprintf(`{"ID":%q,"Type":"service","Meta":{"owner":"team-1"},"TaskGroups":[{"Name":"web","RestartPolicy":{"Attempts":2,"Mode":"fail"}}]}`, id)))
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	a, b := decode("a"), decode("b")
	if a.Groups[0].Restart != b.Groups[0].Restart || *a.Groups[0].Restart.Attempts != 2 {
		t.Errorf("equal policies are two objects: %+v and %+v", a.Groups[0].Restart, b.Groups[0].Restart)
	}
	if reflect.ValueOf(a.Meta).Pointer() != reflect.ValueOf(b.Meta).Pointer() || a.Meta["owner"] != "team-1" {
		t.Errorf("equal maps are two maps: %v and %v", a.Meta, b.Meta)
	}
	if a.ID != "a" || b.ID != "b" || a.Groups[0] == b.Groups[0] {
		t.Errorf("different parts are one object: %+v and %+v", a, b)
	}
}

// texts are JSON that is not what encoding/json writes, and JSON that is none.
var texts = []string{
	``, `null`, `{}`, ` {}`, `{} `, `{"ID":"a"}x`, `{"ID":"a"`, `{"ID":"a",}`, `{"id":"a"}`, `{"ID":"a","ID":"b"}`, `{"ID":"a","id":"b"}`,
	`{"Unknown":{"a":[1,"}"]},"ID":"a"}`, `{"ID":1}`, `{"ID":null}`, `{"Priority":1.5}`, `{"Priority":1e2}`, `{"Priority":"1"}`, `{"Priority":01}`,
	`{"Priority":-}`, `{"Priority":99999999999999999999}`, `{"Version":-1}`, `{"Version":18446744073709551615}`, `{"Stop":1}`, `{"Stop":tru}`,
	`{"ID":"\u0061\n"}`, `{"ID":"\ud800"}`, `{"ID":"\u12"}`, `{"ID":"\x"}`, "{\"ID\":\"\xff\"}", "{\"ID\":\"a\nb\"}", `{"ID":"\`, `{"ID":"é<>"}`,
	`{"Meta":{"a":null}}`, `{"Meta":{"a":1}}`, `{"Meta":{"a":"1","a":"2"}}`, `{"Meta":{}}`, `{"Meta":null}`, `{"Datacenters":[]}`, `{"Datacenters":[null,"a"]}`,
	`{"TaskGroups":[null,{}]}`, `{"TaskGroups":[{"Tasks":[{"Config":{"a":[1,-0,1e5,1.5,true,false,null,{},[],"x"],"a":2}}]}]}`,
	`{"TaskGroups":[{"RestartPolicy":{"Attempts":2},"RestartPolicy":{"Mode":"fail"}}]}`, `{"TaskGroups":[{"RestartPolicy":{"Attempts":"x"}}]}`,
	`{"TaskGroups":[{"RestartPolicy":[1]}]}`, `{"TaskGroups":[{"RestartPolicy":{"Attempts":2}]}`, `{"Payload":"aGk="}`, `{"Payload":"?"}`, `{"Payload":null}`,
	`{"VersionTag":{"TaggedTime":1}}`, `[1]`, `"a"`, `{"TaskGroups":{}}`, `{"Meta":[]}`, `{"ID":"a" ,"Name":"b"}`, `{"TaskGroups":[{"Tasks":[{"Config":{"a":1e999}}]}]}`,
	`{"TaskGroups":[{"Tasks":[{"Config":{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}}]}]}`,
	`{"TaskGroups":[{"Tasks":[{"Config":{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}}]}]}`,
}

func TestOtherTextsAreLeftToTheStandardLibrary(t *testing.T) {
	d := newDecoder()
	for _, text := range texts {
		compare(t, d, []byte(text))
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	d := newDecoder()
	f.Fuzz(func(t *testing.T, text []byte) { compare(t, d, text) })
}

func compare(t *testing.T, d *jsondoc.Decoder, text []byte) {
	t.Helper()
	for range 2 { // the second time from the pool
		got, err := jsondoc.Decode[api.Job](d, text)
		want := new(api.Job)
		expected := json.Unmarshal(text, want)
		if (err == nil) != (expected == nil) {
			t.Fatalf("%.200s: error %v, and encoding/json %v", text, err, expected)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%.200s: not what encoding/json returns:\n%s", text, cmp.Diff(want, got))
		}
	}
}

// TestFillIsAsStrict compares Fill, as part of api.DecodeJSONWith, with encoding/json: equal
// values, the same warnings and the same errors.
func TestFillIsAsStrict(t *testing.T) {
	d := jsondoc.NewStrict()
	for _, text := range texts {
		compareStrict[api.Job](t, d, []byte(text))
	}
	for seed := range uint64(200) {
		f := filler{rand.New(rand.NewPCG(seed, 2))}
		text, err := json.Marshal(filled[api.RegisterJobRequest](f))
		if err != nil {
			t.Fatal(err)
		}
		compareStrict[api.RegisterJobRequest](t, d, text)
		compareStrict[api.RegisterJobRequest](t, d, append(text, '\n'))
		compareStrict[api.RegisterJobRequest](t, d, text[:len(text)/2])
	}
	compareStrict[embedding](t, d, []byte(`{"ID":"a","Unknown":1}`))
	compareStrict[numbered](t, d, []byte(`{"1":{"ID":"a","Unknown":1}}`))
}

type (
	embedding struct{ api.Job }
	numbered  map[int]api.Job
)

func compareStrict[T any](t *testing.T, d *jsondoc.Decoder, text []byte) {
	t.Helper()
	got, want := new(T), new(T)
	warnings, err := api.DecodeJSONWith(d.Fill, text, got)
	wantWarnings, wantErr := api.DecodeJSON(text, want)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) || !reflect.DeepEqual(warnings, wantWarnings) {
		t.Fatalf("%.200s: %v, warnings %q; want %v, %q", text, err, warnings, wantErr, wantWarnings)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%.200s: not what encoding/json returns:\n%s", text, cmp.Diff(want, got))
	}
}

// TestFillSharesNothing fills two values from one text, and changes one.
func TestFillSharesNothing(t *testing.T) {
	d := jsondoc.NewStrict()
	var jobs [2]api.Job
	for i := range jobs {
		if !d.Fill([]byte(`{"ID":"a","Meta":{"k":"v"},"TaskGroups":[{"Name":"web","RestartPolicy":{"Attempts":2}}]}`), &jobs[i]) {
			t.Fatal("a plain text is left to encoding/json")
		}
	}
	*jobs[0].Groups[0].Restart.Attempts, jobs[0].Meta["k"] = 3, "other"
	if *jobs[1].Groups[0].Restart.Attempts != 2 || jobs[1].Meta["k"] != "v" {
		t.Errorf("a change of one value changed the other: %+v", jobs[1])
	}
}

// TestFillTakesWhatClientsSend guards the speed of registrations.
func TestFillTakesWhatClientsSend(t *testing.T) {
	text, err := json.Marshal(&api.RegisterJobRequest{Job: &api.Job{ID: "web", Groups: []*api.Group{{Name: "web", Tasks: []*api.Task{{Name: "server"}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if !jsondoc.NewStrict().Fill(text, new(api.RegisterJobRequest)) {
		t.Errorf("left to encoding/json: %s", text)
	}
}

// A filler fills values of any type with random content, mostly small.
type filler struct{ *rand.Rand }

func filled[T any](f filler) *T {
	v := new(T)
	f.fill(reflect.ValueOf(v).Elem(), 0)
	return v
}

var words = []string{"", "a", "web", "service", "fail", "<&>", "é", "line\nline", "quote\"", "\u2028", "a long text that is not kept in the pool of short strings", "back\\slash", "\x01"}

func (f filler) fill(v reflect.Value, depth int) {
	if depth > 12 || f.IntN(8) == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(f.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 42, 1800000000000}[f.IntN(5)])
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint([]uint64{0, 1, 42}[f.IntN(3)])
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, 1, -0.5, 1e-9, 1e300}[f.IntN(5)])
	case reflect.String:
		v.SetString(words[f.IntN(len(words))])
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), f.IntN(3), 4))
		for i := range v.Len() {
			f.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range f.IntN(4) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key, depth)
			f.fill(value, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf([]any{true, 1.5, "text", []any{nil, "x", []any{}}, map[string]any{"a": 1.0, "<": nil}, map[string]any{}}[f.IntN(6)]))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				f.fill(v.Field(i), depth+1)
			}
		}
	}
}

// benchmarkJob returns a job of one group and one task.
func benchmarkJob() *api.Job {
	job := &api.Job{ID: "web", Namespace: "default", Groups: []*api.Group{{Name: "web", Tasks: []*api.Task{{
		Name: "server", Driver: "raw_exec", Config: map[string]any{"command": "/opt/web/bin/serve", "args": []any{"--listen", "0.0.0.0:8080"}},
		Env: map[string]string{"LOG_LEVEL": "info", "DATABASE": "postgres://db-1/web"},
	}}}}}
	job.Canonicalize()
	return job
}

// BenchmarkDecode decodes a job of one group and one task.
func BenchmarkDecode(b *testing.B) {
	text, err := json.Marshal(benchmarkJob())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("standard", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := json.Unmarshal(text, new(api.Job)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("strict", func(b *testing.B) {
		d := jsondoc.NewStrict()
		b.ReportAllocs()
		for b.Loop() {
			if !d.Fill(text, new(api.Job)) {
				b.Fatal("left to encoding/json")
			}
		}
	})
	b.Run("jsondoc", func(b *testing.B) {
		d := newDecoder()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := jsondoc.Decode[api.Job](d, text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
