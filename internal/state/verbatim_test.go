// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
)

// reencoded is a command as every other server sees it.
func reencoded(t fataler, c Command) Command {
	decoded, err := DecodeCommands(EncodeCommands([]Command{c}))
	if err != nil {
		t.Fatal(err)
	}
	return decoded[0]
}

// asLogged replaces the jobs of a placement by references, which is all that is
// read of them.
func asLogged(c Command) Command {
	commit, ok := c.(*CommitPlacement)
	if !ok {
		return c
	}
	p := *commit.Placement
	p.Job, p.Place = decodeJobRef(encodeJobRef(p.Job)), slices.Clone(p.Place)
	for i, a := range p.Place {
		b := *a
		b.Job = decodeJobRef(encodeJobRef(a.Job))
		p.Place[i] = &b
	}
	return &CommitPlacement{&p}
}

func TestVerbatimCommandsAreDecodedAsTheyAre(t *testing.T) {
	verbatim := 0
	rapid.Check(t, func(t *rapid.T) {
		c := drawCommand(t)
		if !Verbatim(c) {
			return
		}
		verbatim++
		if want, got := asLogged(c), reencoded(t, c); !reflect.DeepEqual(want, got) {
			t.Fatalf("the log changes it (-written +read):\n%s", cmp.Diff(want, got))
		}
	})
	if verbatim == 0 {
		t.Error("not one of the commands was verbatim")
	}
}

func TestWhatTheLogChangesIsNotVerbatim(t *testing.T) {
	node := func(change func(*api.Node)) Command {
		n := &api.Node{ID: "n"}
		change(n)
		return &RegisterNode{Node: n, Evaluations: []*api.Evaluation{{ID: "e"}}}
	}
	place := func(change func(*api.Allocation)) Command {
		a := &api.Allocation{ID: "a", Metrics: &api.PlacementMetrics{NodesEvaluated: 1}}
		change(a)
		return &CommitPlacement{&Placement{Place: []*api.Allocation{a}}}
	}
	for name, c := range map[string]struct {
		command Command
		want    bool
	}{
		"a node":                  {node(func(*api.Node) {}), true},
		"an empty list of a node": {node(func(n *api.Node) { n.Links = map[string]string{} }), true},
		"text that is not UTF-8":  {node(func(n *api.Node) { n.Name = "\xff" }), false},
		"a plain allocation":      {place(func(*api.Allocation) {}), true},
		"empty counts":            {place(func(a *api.Allocation) { a.Metrics.NodesAvailable = map[string]int{} }), false},
		"a local time": {place(func(a *api.Allocation) {
			a.DeploymentStatus = &api.AllocDeploymentStatus{Timestamp: time.Unix(5, 0).In(time.FixedZone("x", 3600))}
		}), false},
		"a time of the clock": {&PutEvaluations{[]*api.Evaluation{{ID: "e", WaitUntil: time.Now()}}}, false},
		"a time in UTC":       {&PutEvaluations{[]*api.Evaluation{{ID: "e", WaitUntil: time.Unix(5, 6).UTC()}}}, true},
	} {
		if got := Verbatim(c.command); got != c.want {
			t.Errorf("%s: verbatim is %t, want %t", name, got, c.want)
		}
		same := reflect.DeepEqual(asLogged(c.command), func() (d Command) {
			defer func() { _ = recover() }()
			decoded, err := DecodeCommands(EncodeCommands([]Command{c.command}))
			if err != nil {
				return nil
			}
			return decoded[0]
		}())
		if same != c.want {
			t.Errorf("%s: the log keeps it: %t, want %t", name, same, c.want)
		}
	}
}

// drawCommand draws a command with anything in any field.
func drawCommand(t *rapid.T) Command {
	odd := rapid.Bool().Draw(t, "odd") // also what the log changes
	switch rapid.IntRange(0, 2).Draw(t, "command") {
	case 0:
		c := &RegisterNode{Node: &api.Node{ID: "n"}, Evaluations: []*api.Evaluation{{}}}
		draw(t, reflect.ValueOf(c.Node).Elem(), 5, odd)
		draw(t, reflect.ValueOf(c.Evaluations[0]).Elem(), 3, odd)
		return c
	case 1:
		c := &PutEvaluations{Evaluations: []*api.Evaluation{{}}}
		draw(t, reflect.ValueOf(c.Evaluations[0]).Elem(), 4, odd)
		return c
	}
	p := &Placement{Job: testJob("web")}
	draw(t, reflect.ValueOf(&p.Deployment).Elem(), 3, odd)
	for range rapid.IntRange(0, 2).Draw(t, "allocations") {
		a := &api.Allocation{}
		v := reflect.ValueOf(a).Elem()
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Type != reflect.TypeFor[*api.Job]() && rapid.Bool().Draw(t, f.Name) {
				draw(t, v.Field(i), 4, odd)
			}
		}
		a.Job, a.Namespace, a.JobID = p.Job, p.Job.Namespace, p.Job.ID
		p.Place = append(p.Place, a)
	}
	return &CommitPlacement{p}
}

// draw sets fields of v, some of them, as deep as it is told; to odd values
// too.
func draw(t *rapid.T, v reflect.Value, depth int, odd bool) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		times := []time.Time{{}, time.Unix(5, 6).UTC(), time.Unix(5, 6).In(time.FixedZone("x", 60)), time.Now()}
		if !odd {
			times = times[:2]
		}
		v.Set(reflect.ValueOf(rapid.SampledFrom(times).Draw(t, "time")))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.SampledFrom([]string{"", "a", "<b>&", "\u2028é"}).Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(rapid.Int64Range(0, 100).Draw(t, "int"))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(rapid.Uint64Range(0, 100).Draw(t, "uint"))
	case reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, "float"))
	case reflect.Interface:
		values := []any{nil, true, 1, 1.5, "x", []any{1.5}, map[string]any{"a": nil}, []any(nil)}
		if !odd {
			values = []any{nil, true, 1.5, "x", []any{1.5}, map[string]any{"a": nil}}
		}
		if x := rapid.SampledFrom(values).Draw(t, "any"); x != nil {
			v.Set(reflect.ValueOf(x))
		}
	case reflect.Pointer:
		if depth > 0 && (!odd || rapid.Bool().Draw(t, "set")) {
			v.Set(reflect.New(v.Type().Elem()))
			draw(t, v.Elem(), depth-1, odd)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if depth > 0 && v.Field(i).CanSet() && rapid.IntRange(0, 3).Draw(t, "some") == 0 {
				draw(t, v.Field(i), depth-1, odd)
			}
		}
	case reflect.Slice:
		switch n := rapid.IntRange(-1, 2).Draw(t, "length"); {
		case n > 0, n == 0 && odd:
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				draw(t, v.Index(i), depth-1, odd)
			}
		}
	case reflect.Map:
		switch n := rapid.IntRange(-1, 2).Draw(t, "size"); {
		case n > 0, n == 0 && odd:
			v.Set(reflect.MakeMap(v.Type()))
			for i := range n {
				e := reflect.New(v.Type().Elem()).Elem()
				draw(t, e, depth-1, odd)
				v.SetMapIndex(reflect.ValueOf(string(rune('a'+i))).Convert(v.Type().Key()), e)
			}
		}
	}
}

// TestReportsAreDecodedAsTheyAre has what a node reports, which came in the log's
// encoding, go into the log.
func TestReportsAreDecodedAsTheyAre(t *testing.T) {
	healthy := true
	shared := map[string]*api.TaskState{"main": {State: api.TaskStateRunning, StartedAt: time.Now()}}
	body, err := nodeproto.EncodeReport([]*api.Allocation{
		{ID: api.NewID(), ClientStatus: api.AllocClientRunning, TaskStates: shared},
		{ID: api.NewID(), ClientStatus: api.AllocClientRunning, TaskStates: shared, DeploymentStatus: &api.AllocDeploymentStatus{Healthy: &healthy, Timestamp: time.Now()}},
		{ID: crashed().ID, ClientStatus: api.AllocClientRunning, Serving: serving(), Crashes: &api.Crashes{Count: 1, Reason: "why"}},
		{ID: "short", ClientStatus: api.AllocClientFailed, ClientDescription: "why", NetworkStatus: &api.AllocNetworkStatus{Address: "10.0.0.1"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	reported, err := nodeproto.DecodeReport(body)
	if err != nil {
		t.Fatal(err)
	}
	c := &UpdateAllocations{NodeID: "n", Allocations: reported, Time: 5, Decoded: true}
	if !Verbatim(c) {
		t.Fatal("it is not verbatim")
	}
	got := reencoded(t, c)
	got.(*UpdateAllocations).Decoded = true
	if diff := cmp.Diff(c, got); diff != "" {
		t.Errorf("the log changes it (-written +read):\n%s", diff)
	}
}
