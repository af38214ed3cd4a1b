// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLifecycleProblems(t *testing.T) {
	task := func(name string, change ...func(*Task)) *Task {
		t := &Task{Name: name, Driver: "raw_exec", Config: map[string]any{"command": "/bin/true"}}
		for _, do := range change {
			do(t)
		}
		return t
	}
	after := func(names ...string) func(*Task) { return func(t *Task) { t.After = names } }
	daemon := func(t *Task) { t.Daemon = true }
	liveness := func(task string) []*Service {
		return []*Service{{Name: "s", Checks: []*Check{{Kind: CheckKindLiveness, TaskName: task}}}}
	}
	for name, c := range map[string]struct {
		kind  string
		group Group
		want  []string // beginnings, in any order
	}{
		"a chain":              {group: Group{Tasks: []*Task{task("a"), task("b", after("a")), task("c", after("a", "b"))}}},
		"a circle of three":    {group: Group{Tasks: []*Task{task("a", after("c")), task("b", after("a")), task("c", after("b"))}}, want: []string{"tasks come after one another in a circle: a after c after b after a"}},
		"two circles":          {group: Group{Tasks: []*Task{task("a", after("b")), task("b", after("a")), task("c", after("d")), task("d", after("c"))}}, want: []string{"tasks come", "tasks come"}},
		"itself":               {group: Group{Tasks: []*Task{task("a", after("a"))}}, want: []string{`task "a": after names the task itself`}},
		"codependent batch":    {kind: JobTypeBatch, group: Group{Fate: FateCodependent, Tasks: []*Task{task("a")}}, want: []string{`fate "codependent": in a batch job`}},
		"codependent service":  {group: Group{Fate: FateCodependent, Tasks: []*Task{task("a")}}},
		"a fate of its own":    {group: Group{Fate: "odd", Tasks: []*Task{task("a")}}, want: []string{`fate "odd": must be one of shared, independent, codependent`}},
		"no time":              {group: Group{Tasks: []*Task{task("a", func(t *Task) { t.Timeout = new(-time.Second) })}}, want: []string{`task "a": timeout -1s: must be more than 0`}},
		"daemon, unwatched":    {group: Group{Tasks: []*Task{task("a", daemon)}}, want: []string{`task "a": daemon: its failure`}},
		"daemon, monitored":    {group: Group{Tasks: []*Task{task("a", daemon, func(t *Task) { t.Monitor = &Monitor{Command: "true"} })}}},
		"daemon, checked":      {group: Group{Tasks: []*Task{task("a", daemon, func(t *Task) { t.Services = liveness("") })}}},
		"daemon of a group":    {group: Group{Services: liveness(""), Tasks: []*Task{task("a", daemon)}}},
		"daemon beside checks": {group: Group{Services: liveness("b"), Tasks: []*Task{task("a", daemon), task("b")}}, want: []string{`task "a": daemon: its failure`}},
		"daemon of the host": {group: Group{Tasks: []*Task{task("a", daemon, func(t *Task) {
			t.Driver, t.Monitor, t.Config = "exec", &Monitor{Command: "true"}, map[string]any{"pid_mode": "host"}
		})}}, want: []string{`task "a": daemon: with pid_mode "host"`}},
		"daemon that is to end":  {kind: JobTypeBatch, group: Group{Tasks: []*Task{task("a", daemon)}}, want: []string{`task "a": daemon: only a task that keeps running`}},
		"order of another hook":  {group: Group{Tasks: []*Task{task("a"), task("b", after("a"), func(t *Task) { t.Lifecycle = &Lifecycle{Hook: HookPoststop} })}}, want: []string{`task "b": after names "a", which is a main task, while this is a poststop task`}},
		"order of a missing one": {group: Group{Tasks: []*Task{nil, task("a", after("b"))}}, want: []string{`task "a": after names "b", which is not a task of the group`}},
	} {
		t.Run(name, func(t *testing.T) {
			c.group.Name = "g"
			j := &Job{ID: "j", Type: c.kind, Groups: []*Group{&c.group, nil}}
			var got []string
			for _, p := range j.LifecycleProblems() {
				got = append(got, p.Text)
			}
			if len(got) != len(c.want) || slices.ContainsFunc(c.want, func(w string) bool {
				return !slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, w) })
			}) {
				t.Errorf("problems %q; want %q", got, c.want)
			}
		})
	}
}
