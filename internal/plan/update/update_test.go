// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"reflect"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// TestEveryFieldHasAnEffect fails for a new field of the vocabulary that nobody
// has decided about: does changing it replace instances?
func TestEveryFieldHasAnEffect(t *testing.T) {
	for typ, fields := range effects {
		for i := range typ.NumField() {
			if _, ok := fields[typ.Field(i).Name]; !ok {
				t.Errorf("%s.%s is not classified: say in update.go what changing it does to running instances", typ, typ.Field(i).Name)
			}
		}
		for name := range fields {
			if _, ok := typ.FieldByName(name); !ok {
				t.Errorf("update.go classifies %s.%s, which does not exist", typ, name)
			}
		}
	}
}

// TestFieldsThatReplaceDo sets every field of job, group, task and service in
// turn, and checks that the effect written down is the one that it has.
func TestFieldsThatReplaceDo(t *testing.T) {
	for typ, fields := range effects {
		for name, effect := range fields {
			if effect == looksInto || name == "Name" || name == "Groups" {
				continue
			}
			old, new := jobOfOne(), jobOfOne()
			set(t, part(new, typ).FieldByName(name))
			got := Destructive(old, old.Groups[0], new, new.Groups[0])
			if want := effect == replaces; got != want {
				t.Errorf("changing %s.%s: destructive is %t, want %t", typ, name, got, want)
			}
			moves := MovesAbout(old, old.Groups[0], new, new.Groups[0])
			if want := effect == whereabouts; moves != want {
				t.Errorf("changing %s.%s: moves about is %t, want %t", typ, name, moves, want)
			}
		}
	}
}

// TestRollingRestartsAreFollowedInPlace changes templates: the mode rolling changes in place, everything else replaces.
func TestRollingRestartsAreFollowedInPlace(t *testing.T) {
	job := func(mode, data string) *api.Job {
		j := jobOfOne()
		j.Groups[0].Tasks[0].Templates = []*api.Template{{DestPath: "local/a", EmbeddedTmpl: data, ChangeMode: mode}}
		return j
	}
	for _, c := range []struct {
		old, new *api.Job
		want     bool
	}{
		{job(api.TemplateRestart, "x"), job(api.TemplateRolling, "x"), false},
		{job(api.TemplateRolling, "x"), job(api.TemplateRestart, "x"), false},
		{job(api.TemplateRolling, "x"), job(api.TemplateRolling, "y"), true},
		{job(api.TemplateRolling, "x"), job(api.TemplateNoop, "x"), true},
		{job(api.TemplateRolling, "x"), jobOfOne(), true},
	} {
		a, b := c.old.Groups[0], c.new.Groups[0]
		if got := Destructive(c.old, a, c.new, b); got != c.want || len(NeedRestart(c.old, c.new)) > 0 != c.want {
			t.Errorf("%+v to %+v: destructive is %t, want %t", a.Tasks[0].Templates, b.Tasks[0].Templates, got, c.want)
		}
	}
}

func jobOfOne() *api.Job {
	return &api.Job{ID: "j", Groups: []*api.Group{{
		Name: "g", Tasks: []*api.Task{{Name: "t", Services: []*api.Service{{Name: "s"}}}},
	}}}
}

// part is the job's part of that type.
func part(j *api.Job, typ reflect.Type) reflect.Value {
	g := j.Groups[0]
	for _, p := range []any{j, g, g.Tasks[0], g.Tasks[0].Services[0]} {
		if v := reflect.ValueOf(p).Elem(); v.Type() == typ {
			return v
		}
	}
	panic("no part of type " + typ.String())
}

// set gives v a value that is not its zero.
func set(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("changed")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(7)
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		if k := p.Elem().Kind(); k != reflect.Struct {
			set(t, p.Elem())
		}
		v.Set(p)
	case reflect.Slice:
		e := reflect.New(v.Type().Elem()).Elem()
		set(t, e)
		v.Set(reflect.Append(v, e))
	case reflect.Map:
		key, e := reflect.ValueOf("k"), reflect.New(v.Type().Elem()).Elem()
		if e.Kind() == reflect.Interface {
			e = reflect.ValueOf("x")
		} else {
			set(t, e)
		}
		m := reflect.MakeMap(v.Type())
		m.SetMapIndex(key, e)
		v.Set(m)
	default:
		t.Fatalf("cannot set a %s", v.Type())
	}
}

func TestDestructive(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*api.Job)
		want   bool
	}{
		{"nothing", func(*api.Job) {}, false},
		{"count", func(j *api.Job) { j.Groups[0].Count = new(5) }, false},
		{"priority", func(j *api.Job) { j.Priority = 70 }, false},
		{"an empty map for none", func(j *api.Job) { j.Groups[0].Tasks[0].Env = map[string]string{} }, false},
		{"env", func(j *api.Job) { j.Groups[0].Tasks[0].Env = map[string]string{"A": "1"} }, true},
		{"a service more", func(j *api.Job) {
			task := j.Groups[0].Tasks[0]
			task.Services = append(task.Services, &api.Service{Name: "more"})
		}, false},
		{"another check", func(j *api.Job) {
			j.Groups[0].Tasks[0].Services[0].Checks = []*api.Check{{Name: "c"}}
		}, false},
		{"kill timeout", func(j *api.Job) { j.Groups[0].Tasks[0].KillTimeout = new(time.Second) }, false},
		{"a task more", func(j *api.Job) { j.Groups[0].Tasks = append(j.Groups[0].Tasks, &api.Task{Name: "u"}) }, true},
		{"a task renamed", func(j *api.Job) { j.Groups[0].Tasks[0].Name = "u" }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			old, new := jobOfOne(), jobOfOne()
			test.change(new)
			if got := Destructive(old, old.Groups[0], new, new.Groups[0]); got != test.want {
				t.Errorf("Destructive is %t, want %t", got, test.want)
			}
		})
	}
}
