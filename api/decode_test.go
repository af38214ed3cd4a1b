// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeJSONWarnsOfUnknownKeys(t *testing.T) {
	var r RegisterJobRequest
	warnings, err := DecodeJSON([]byte(`{"Job":{"ID":"web","Prioritty":3,"TaskGroups":[{"Name":"g","Tsks":[]}]}}`), &r)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Job.Prioritty is not a known field and was ignored",
		"Job.TaskGroups[0].Tsks is not a known field and was ignored",
	}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if r.Job.ID != "web" || r.Job.Groups[0].Name != "g" {
		t.Errorf("known fields were lost: %+v", r.Job)
	}
}

func TestDecodeJSONReadsDurations(t *testing.T) {
	for _, text := range []string{`{"KillTimeout":"1m30s"}`, `{"KillTimeout":90000000000}`, `{"killtimeout":9e10}`} {
		var task Task
		_, err := DecodeJSON([]byte(text), &task)
		if text == `{"killtimeout":9e10}` {
			if err == nil {
				t.Errorf("%s: fractional notation for nanoseconds was accepted", text)
			}
			continue
		}
		if err != nil || *task.KillTimeout != 90*time.Second {
			t.Errorf("%s: got %v, %v", text, task.KillTimeout, err)
		}
	}
}

func TestDecodeJSONNamesWrongFields(t *testing.T) {
	for text, want := range map[string]string{
		`{"Job":{"Priority":"high"}}`:                          `Job.Priority must be a whole number, not the string "high"`,
		`{"Job":{"Priority":1.5}}`:                             `Job.Priority must be a whole number that fits int, not 1.5`,
		`{"Job":{"TaskGroups":{}}}`:                            `Job.TaskGroups must be a list, not an object`,
		`{"Job":{"TaskGroups":[null]}}`:                        `Job.TaskGroups[0] must be an object, not null`,
		`{"Job":{"TaskGroups":[{"Tasks":[{"Env":{"A":1}}]}]}}`: `Job.TaskGroups[0].Tasks[0].Env.A must be a string, not 1`,
		`{"Job":{"Meta":["a"]}}`:                               `Job.Meta must be an object, not a list`,
		`{"Job":{"AllAtOnce":"yes"}}`:                          `Job.AllAtOnce must be true or false`,
		`{"Job":{"Update":{"MinHealthyTime":"soon"}}}`:         `Job.Update.MinHealthyTime must be a duration`,
		`[]`:                `the value must be an object, not a list`,
		"{\n\"Job\":\n{,}}": `broken at line 3`,
		`{"Job":`:           `ends too early`,
		``:                  `has no body`,
		`{} {}`:             `more after the end`,
	} {
		r := RegisterJobRequest{EvalPriority: 7}
		_, err := DecodeJSON([]byte(text), &r)
		if CodeOf(err) != CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n want %s\n got  %v", text, want, err)
		}
		if !reflect.DeepEqual(r, RegisterJobRequest{EvalPriority: 7}) {
			t.Errorf("%s: the target was changed: %+v", text, r)
		}
	}
}

// FuzzDecodeJSON: whatever is sent is either refused with words, or a job that
// the rest of the package can handle without panicking.
func FuzzDecodeJSON(f *testing.F) {
	seed, err := json.Marshal(RegisterJobRequest{Job: canonical()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"Job":{"TaskGroups":[{"Tasks":[{"Services":[{"Checks":[{}]}]}],"Networks":[{}],"Volumes":{"a":{}}}]}}`))
	f.Add([]byte(`{"Job":{"Constraints":[{}],"Periodic":{},"Update":{"Canary":-1}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r RegisterJobRequest
		if _, err := DecodeJSON(data, &r); err != nil {
			if CodeOf(err) != CodeInvalid {
				t.Errorf("refused with %s: %v", CodeOf(err), err)
			}
			return
		}
		if r.Job == nil {
			return
		}
		r.Job.Canonicalize()
		r.Job.Validate()
		Unsupported(r.Job)
		r.Job.Warnings()
		again := r.Job.Copy()
		if !SpecEqual(r.Job, again) {
			t.Error("a copy is not equal")
		}
		if d := DiffJobs(r.Job, again, false); d.Type != DiffNone {
			t.Errorf("a copy differs: %+v", d)
		}
	})
}
