// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

func TestTheExamplesAreScenarios(t *testing.T) {
	files, err := filepath.Glob("../../examples/sim/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("found %v, %v", files, err)
	}
	for _, file := range files {
		if _, err := Load(file); err != nil {
			t.Error(err)
		}
	}
	if _, err := LoadFit("../../examples/sim/fit.yaml", []string{"../../examples/sim/web.hcl", "../../examples/sim/train.hcl"}); err != nil {
		t.Error(err)
	}
}

func TestTheTemplateIsAScenario(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"web.hcl", "report.hcl"} {
		text, err := os.ReadFile("../../examples/sim/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, strings.Replace(name, "report", "batch", 1)), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := parse(filepath.Join(dir, "s.yaml"), []byte(Template)); err != nil {
		t.Error(err)
	}
}

func TestMistakesHaveLines(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                       "s.yaml:1: nodes: the list is empty",
		"nodes: [{cpu: -4}]":                                     "s.yaml:1: cpu is -4, which is not above 0",
		"nodes:\n- {devices: [{name: L4}]}":                      "s.yaml:2: a device needs a type",
		"nodes: [{}]\njobs:\n- {copies: 2}":                      "s.yaml:3: a job needs a file",
		"nodes: [{}]\nlimit: soon":                               "s.yaml:2: time: invalid duration",
		"nodes: [{}]\ntasks: {start: 2s..1s}":                    `s.yaml:2: "2s..1s" is not a time such as 200ms`,
		"nodes: [{}]\ntasks: {fail: 2}":                          "s.yaml:2: fail is 2; it is a share from 0 to 1",
		"nodes: [{}]\nserver: {algorithm: best}":                 `s.yaml:2: algorithm is "best"`,
		"nodes: [{}]\nserver:\n  preempt: [x]":                   `s.yaml:3: there is no job type "x"`,
		"nodes: [{}]\nuntil: later":                              `s.yaml:2: until is "later"`,
		"nodes: [{}]\nevents:\n- {kill: {percent: 101}}":         "s.yaml:3: percent is 101",
		"nodes: [{}]\nevents:\n- {kill: {where: {name: \"[\"}}}": "is not a pattern",
		"nodes: [{}]\nevents:\n- {stop: web, for: 3s}":           "s.yaml:3: only kill and partition can be undone",
		"nodes: [{}]\njobs: [{file: missing.hcl}]":               "missing.hcl: no such file",
	} {
		_, err := parse("s.yaml", []byte(text))
		if err == nil {
			t.Errorf("%q: accepted", text)
		} else if message := err.Error(); !strings.Contains(message, want) {
			t.Errorf("%q: %s\nwant it to say %q", text, message, want)
		}
	}
}

func TestTheSameSeedIsTheSameFleet(t *testing.T) {
	s := &Scenario{Seed: 3, Nodes: []NodeGroup{{
		Count: 2, Name: "n", CPU: 4000, Cores: 4, Memory: 100, Disk: 10, Meta: map[string]string{"zone": "a"}, Drivers: []string{"docker"},
		Devices: []Device{{Vendor: "nvidia", Type: "gpu", Name: "L4", Count: 2, Attributes: map[string]string{"memory": "24 GiB", "ecc": "true"}}},
	}}}
	fleet := s.fleet()
	if diff := cmp.Diff(fleet, s.fleet()); diff != "" {
		t.Errorf("made twice, it is not the same:\n%s", diff)
	}
	n := fleet[1]
	if n.Name != "n-2" || n.Attributes["driver.docker"] != "1" || len(n.Resources.CPU.ReservableCPUCores) != 4 {
		t.Errorf("the second node is %+v", n)
	}
	gpu := n.Resources.Devices[0]
	if len(gpu.Instances) != 2 || *gpu.Attributes["memory"].Int != 24 || gpu.Attributes["memory"].Unit != "GiB" || !*gpu.Attributes["ecc"].Bool {
		t.Errorf("its devices are %+v", gpu)
	}
	if fleet[0].ID == n.ID {
		t.Error("two nodes share an id")
	}
}

func TestSelections(t *testing.T) {
	var nodes []*api.Node
	for i, zone := range []string{"a", "a", "a", "a", "b", "b"} {
		nodes = append(nodes, &api.Node{Name: "n-" + string(rune('1'+i)), Meta: map[string]string{"zone": zone}, Attributes: map[string]string{"arch": "arm"}})
	}
	for name, c := range map[string]struct {
		sel  Selection
		want int
	}{
		"all":           {Selection{}, 6},
		"by meta":       {Selection{Where: map[string]string{"meta.zone": "a"}}, 4},
		"by two things": {Selection{Where: map[string]string{"meta.zone": "b", "name": "n-5", "attr.arch": "ar*"}}, 1},
		"a count":       {Selection{Count: 3}, 3},
		"a share":       {Selection{Percent: 50, Where: map[string]string{"meta.zone": "a"}}, 2},
		"at least one":  {Selection{Percent: 1}, 1},
		"none":          {Selection{Where: map[string]string{"pool": "x"}}, 0},
	} {
		got := c.sel.pick(nodes, rand.New(rand.NewPCG(1, 1)))
		if len(got) != c.want {
			t.Errorf("%s: picked %v, want %d", name, got, c.want)
		}
		if again := c.sel.pick(nodes, rand.New(rand.NewPCG(1, 1))); !cmp.Equal(got, again) {
			t.Errorf("%s: picked %v, then %v with the same seed", name, got, again)
		}
	}
}

func TestInstancesBehaveAsTheirTasksSay(t *testing.T) {
	attempts, delay, kill := 2, time.Second, 3*time.Second
	job := &api.Job{ID: "j", Type: api.JobTypeBatch}
	group := &api.Group{Name: "g", Tasks: []*api.Task{
		{Name: "main", Driver: "mock", KillTimeout: &kill, Restart: &api.Restart{Attempts: &attempts, Delay: &delay},
			Config: map[string]any{"run_for": "90s", "exit_code": 3.0, "start_block_for": "2s", "kill_after": "1h"}},
		{Name: "init", Driver: "mock", Lifecycle: &api.Lifecycle{Hook: api.HookPrestart}, Config: map[string]any{"run_for": "5h"}},
	}}
	tasks := &Tasks{Start: Range{time.Millisecond, time.Millisecond}}
	b, err := newBehaviour(job, group, tasks)
	if err != nil {
		t.Fatal(err)
	}
	want := life{start: 2*time.Second + time.Millisecond, runFor: 90 * time.Second, fails: true}
	if got := b.draw(rand.New(rand.NewPCG(1, 1))); got != want {
		t.Errorf("its life is %+v, want %+v", got, want)
	}
	if b.kill != kill || b.restarts != 2 || b.delay != delay || !b.batch || len(b.tasks) != 2 {
		t.Errorf("it behaves as %+v", b)
	}
	tasks.Fail, tasks.FailIn = 1, Range{time.Minute, time.Minute}
	if got := b.draw(rand.New(rand.NewPCG(1, 1))); !got.fails || got.runFor != time.Minute {
		t.Errorf("when every run fails after a minute, its life is %+v", got)
	}
	if b, err = newBehaviour(job, group, &Tasks{Forever: true}); err != nil || b.runFor != forever || b.fails {
		t.Errorf("asked whether it fits, it behaves as %+v, %v", b, err)
	}
	group.Tasks[0].Config["run_for"] = "soon"
	if _, err := newBehaviour(job, group, tasks); err == nil || !strings.Contains(err.Error(), `task "main"`) {
		t.Errorf("a wrong run_for gave %v", err)
	}
}
