// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func ptr[T any](v T) *T { return &v }

// webJob is a job that a user might write: two groups, checks, ports.
func webJob() *Job {
	return &Job{
		ID:   "web",
		Meta: map[string]string{"owner": "ops"},
		Groups: []*Group{{
			Name:     "site",
			Count:    ptr(2),
			Networks: []*Network{{DynamicPorts: []Port{{Label: "http"}}}},
			Services: []*Service{{
				Name: "site", PortLabel: "http",
				Checks: []*Check{{Type: CheckHTTP, Path: "/healthz", Interval: 10 * time.Second}},
			}},
			Tasks: []*Task{{
				Name: "server", Driver: "raw_exec",
				Config: map[string]any{"command": "/bin/server", "args": []any{"-v"}},
				Env:    map[string]string{"COLOR": "blue"},
			}},
		}, {
			Name:  "worker",
			Tasks: []*Task{{Name: "work", Driver: "mock", Config: map[string]any{"run_for": "10s"}}},
		}},
	}
}

func canonical() *Job {
	j := webJob()
	j.Canonicalize()
	return j
}

func TestCanonicalizeWritesDefaults(t *testing.T) {
	j := canonical()
	g := j.Groups[0]
	got := map[string]any{
		"name": j.Name, "type": j.Type, "priority": j.Priority, "namespace": j.Namespace, "datacenters": j.Datacenters,
		"pool": j.NodePool, "count of worker": j.Groups[1].Size(), "parallel": *g.Update.MaxParallel,
		"healthy": *g.Update.MinHealthyTime, "restarts": *g.Tasks[0].Restart.Attempts, "restart mode": *g.Restart.Mode,
		"reschedule": *g.Reschedule.Unlimited, "disk": *g.EphemeralDisk.SizeMB, "cpu": *g.Tasks[0].Resources.CPU,
		"memory": *g.Tasks[0].Resources.MemoryMB, "logs": *g.Tasks[0].Logs.MaxFiles, "kill": *g.Tasks[0].KillTimeout,
		"check": g.Services[0].Checks[0].Name, "method": g.Services[0].Checks[0].Method,
		"check port": g.Services[0].Checks[0].PortLabel, "network": g.Networks[0].Mode,
	}
	want := map[string]any{
		"name": "web", "type": "service", "priority": 50, "namespace": "default", "datacenters": []string{"*"},
		"pool": "default", "count of worker": 1, "parallel": 1, "healthy": 10 * time.Second, "restarts": 2,
		"restart mode": "fail", "reschedule": true, "disk": 300, "cpu": 100, "memory": 300, "logs": 10,
		"kill": 5 * time.Second, "check": "service: site check", "method": "GET", "check port": "http", "network": "host",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

func TestCanonicalizeIsIdempotent(t *testing.T) {
	once := canonical()
	twice := once.Copy()
	twice.Canonicalize()
	if diff := cmp.Diff(once, twice); diff != "" {
		t.Errorf("canonicalizing again changed the job (-once +twice):\n%s", diff)
	}
}

func TestPoliciesInheritWithoutSharing(t *testing.T) {
	j := webJob()
	j.Update = &Update{MaxParallel: ptr(3), AutoRevert: ptr(true)}
	j.Groups[0].Update = &Update{MaxParallel: ptr(2)}
	j.Groups[0].Restart = &Restart{Attempts: ptr(7)}
	j.Canonicalize()
	if got := []any{*j.Groups[0].Update.MaxParallel, *j.Groups[1].Update.MaxParallel, *j.Groups[0].Update.AutoRevert, *j.Groups[0].Tasks[0].Restart.Attempts}; !reflect.DeepEqual(got, []any{2, 3, true, 7}) {
		t.Errorf("inherited policies: got %v", got)
	}
	*j.Groups[1].Update.MaxParallel = 9
	if *j.Update.MaxParallel != 3 {
		t.Error("a group's policy shares memory with the job's")
	}
}

func TestRescheduleAttemptsMeanALimit(t *testing.T) {
	j := webJob()
	j.Groups[0].Reschedule = &Reschedule{Attempts: ptr(3), Interval: ptr(time.Hour)}
	j.Canonicalize()
	if *j.Groups[0].Reschedule.Unlimited {
		t.Error("attempts = 3 left reschedule unlimited")
	}
}

func TestValidJobHasNoComplaints(t *testing.T) {
	if err := canonical().Validate(); err != nil {
		t.Fatal(err)
	}
	if u := Unsupported(canonical()); len(u) > 0 {
		t.Fatalf("unsupported: %v", u)
	}
}

func TestLogsAreComparedWithTheDiskTaskByTask(t *testing.T) {
	j := webJob()
	for _, name := range []string{"second", "third", "fourth"} {
		more := *j.Groups[0].Tasks[0]
		more.Name, more.Services = name, nil
		j.Groups[0].Tasks = append(j.Groups[0].Tasks, &more)
	}
	j.Groups[0].EphemeralDisk = &EphemeralDisk{SizeMB: ptr(100)}
	j.Groups[0].Tasks[0].Resources = &Resources{MemoryMB: ptr(64), MemoryMaxMB: ptr(MemoryUnlimited)}
	j.Canonicalize()
	if err := j.Validate(); err != nil {
		t.Errorf("four tasks with 100 MB of logs each on a disk of 100 MB, one without a memory limit: %v", err)
	}
}

func TestServicesForConsulAreWarnedAbout(t *testing.T) {
	j := webJob()
	j.Groups[0].Services[0].Provider = "consul"
	j.Canonicalize()
	if w := strings.Join(j.Warnings(), "\n"); !strings.Contains(w, `provider = "consul": Reeve does not use Consul`) {
		t.Errorf("warnings: %s", w)
	}
	if w := canonical().Warnings(); len(w) > 0 {
		t.Errorf("a job without a provider: %v", w)
	}
}

func TestValidateCollectsEverything(t *testing.T) {
	for _, tc := range []struct {
		name   string
		break_ func(*Job)
		want   string
	}{
		{"id", func(j *Job) { j.ID, j.Name = "", "" }, "has no ID"},
		{"id with spaces", func(j *Job) { j.ID = "a b" }, `job ID "a b"`},
		{"namespace", func(j *Job) { j.Namespace = "prod/" }, `namespace "prod/": must be`},
		{"type", func(j *Job) { j.Type = "cron" }, `type "cron"`},
		{"priority", func(j *Job) { j.Priority = 200 }, "priority 200"},
		{"no groups", func(j *Job) { j.Groups = nil }, "no group"},
		{"same group twice", func(j *Job) { j.Groups[1].Name = "site" }, `group "site" is defined twice`},
		{"count", func(j *Job) { j.Groups[0].Count = ptr(-1) }, "count -1"},
		{"too many", func(j *Job) { j.Groups[0].Count = ptr(60000) }, "at most 50000"},
		{"no tasks", func(j *Job) { j.Groups[0].Tasks = nil }, "has no task"},
		{"task name", func(j *Job) { j.Groups[0].Tasks[0].Name = "a/b" }, "without white space or slashes"},
		{"driver", func(j *Job) { j.Groups[0].Tasks[0].Driver = "" }, "has no driver"},
		{"config key", func(j *Job) { j.Groups[0].Tasks[0].Config["comand"] = "x" }, `no key "comand"`},
		{"config missing", func(j *Job) { delete(j.Groups[0].Tasks[0].Config, "command") }, "command is missing"},
		{"config type", func(j *Job) { j.Groups[0].Tasks[0].Config["args"] = "x" }, "args must be a list of strings"},
		{"port twice", func(j *Job) { j.Groups[0].Networks[0].ReservedPorts = []Port{{Label: "http", Value: 80}} }, `group "site", network, port "http": it is defined twice`},
		{"port mapped by nobody", func(j *Job) { j.Groups[0].Networks[0].DynamicPorts = []Port{{Label: "db", To: 5432}} }, `port "db": to = 5432 maps nothing`},
		{"static port", func(j *Job) { j.Groups[0].Networks[0].ReservedPorts = []Port{{Label: "x", Value: 70000}} }, "static = 70000"},
		{"service port", func(j *Job) { j.Groups[0].Services[0].PortLabel = "htp" }, `port "htp" is not defined; there are: http`},
		{"check type", func(j *Job) { j.Groups[0].Services[0].Checks[0].Type = "icmp" }, `type "icmp"`},
		{"check path", func(j *Job) { j.Groups[0].Services[0].Checks[0].Path = "" }, "needs a path"},
		{"script without task", func(j *Job) { k := j.Groups[0].Services[0].Checks[0]; k.Type, k.Command = CheckScript, "x" }, "needs task"},
		{"interval", func(j *Job) { j.Groups[0].Services[0].Checks[0].Interval = time.Millisecond }, "interval 1ms"},
		{"deadlines", func(j *Job) { j.Groups[0].Update.MinHealthyTime = ptr(time.Hour) }, "must be less than healthy_deadline"},
		{"progress", func(j *Job) { j.Groups[0].Update.ProgressDeadline = ptr(time.Minute) }, "must be less than progress_deadline"},
		{"restart never fits", func(j *Job) { j.Groups[0].Restart.Attempts = ptr(1000) }, "never fit into"},
		{"growing restarts never fit", func(j *Job) {
			j.Groups[0].Restart = &Restart{Attempts: ptr(9), Interval: ptr(time.Hour), Delay: ptr(30 * time.Second), DelayFunction: ptr("exponential"), Mode: ptr("fail")}
		}, "the delays of 9 attempts never fit into an interval of 1h0m0s"},
		{"restarts without end", func(j *Job) {
			j.Groups[0].Restart = &Restart{Attempts: ptr(1 << 50), Interval: ptr(time.Hour), Delay: ptr(time.Duration(1)), DelayFunction: ptr("fibonacci"), MaxDelay: ptr(time.Duration(1))}
		}, "never fit into an interval"},
		{"restart function", func(j *Job) { j.Groups[0].Restart.DelayFunction = ptr("linear") }, `delay_function "linear": must be constant, exponential or fibonacci`},
		{"restart max_delay", func(j *Job) { j.Groups[0].Restart.MaxDelay = ptr(time.Second) }, "max_delay 1s is less than the delay of"},
		{"restart max_delay below zero", func(j *Job) { j.Groups[0].Restart.MaxDelay = ptr(-time.Second) }, "max_delay -1s: must not be negative"},
		{"restart immediate", func(j *Job) { j.Groups[0].Restart.Immediate = ptr(3) }, "immediate 3 is more than the 2 attempts"},
		{"restart immediate below zero", func(j *Job) { j.Groups[0].Restart.Immediate = ptr(-1) }, "immediate -1: must not be negative"},
		{"restart reset_after", func(j *Job) { j.Groups[0].Restart.ResetAfter = ptr(time.Duration(0)) }, "reset_after 0s: must be positive"},
		{"restart reset_after and mode delay", func(j *Job) {
			j.Groups[0].Restart.ResetAfter, j.Groups[0].Restart.Mode = ptr(time.Minute), ptr("delay")
		}, "mode delay waits for the end of the interval"},
		{"result elsewhere", func(j *Job) {
			j.Groups[0].Tasks[0].ResultFile, j.Groups[0].Tasks[0].Goal = "../secrets", "finish"
		}, "must be a path within the task's directory"},
		{"result of what goes on", func(j *Job) { j.Groups[0].Tasks[0].ResultFile = "local/x" }, "only a task that ends has a result"},
		{"operator", func(j *Job) { j.Constraints = []*Constraint{{LTarget: "${attr.x}", Operand: "~="}} }, `operator "~="`},
		{"regexp", func(j *Job) { j.Constraints = []*Constraint{{LTarget: "${attr.x}", RTarget: "(", Operand: "regexp"}} }, "not a regular expression"},
		{"version", func(j *Job) {
			j.Constraints = []*Constraint{{LTarget: "${attr.x}", RTarget: "new", Operand: "version"}}
		}, "not a version range"},
		{"signal", func(j *Job) { j.Groups[0].Tasks[0].KillSignal = "TERM" }, `kill_signal "TERM"`},
		{"memory", func(j *Job) { j.Groups[0].Tasks[0].Resources.MemoryMB = ptr(1) }, "memory 1 MB"},
		{"logs too big", func(j *Job) { j.Groups[0].EphemeralDisk.SizeMB = ptr(50) }, `task "server": logs: 10 files of 10 MB are more than the 50 MB`},
		{"memory_max", func(j *Job) { j.Groups[0].Tasks[0].Resources = &Resources{MemoryMB: ptr(64), MemoryMaxMB: ptr(-2)} }, "memory_max -2 MB is less than memory 64 MB; -1 is no limit"},
		{"secrets below 0", func(j *Job) { j.Groups[0].Tasks[0].Resources.SecretsMB = ptr(-1) }, "resources: secrets -1 MB: must be 0 to 1048576"},
		{"secrets of all memory", func(j *Job) { j.Groups[0].Tasks[0].Resources.SecretsMB = ptr(math.MaxInt) }, "MB: must be 0 to 1048576"},
		{"two leaders", func(j *Job) {
			g := j.Groups[0]
			g.Tasks[0].Leader = true
			other := *g.Tasks[0]
			other.Name = "other"
			g.Tasks = append(g.Tasks, &other)
		}, "2 tasks are leader"},
		{"only hooks", func(j *Job) { j.Groups[0].Tasks[0].Lifecycle = &Lifecycle{Hook: HookPrestart} }, "only lifecycle tasks"},
		{"hook", func(j *Job) { j.Groups[0].Tasks[0].Lifecycle = &Lifecycle{Hook: "before"} }, `hook "before"`},
		{"scaling", func(j *Job) { j.Groups[0].Scaling = &Scaling{Min: ptr(int64(5)), Max: ptr(int64(2))} }, "min 5 is greater than max 2"},
		{"affinity", func(j *Job) { j.Affinities = []*Affinity{{LTarget: "${attr.x}", Operand: "=", Weight: ptr(int8(0))}} }, "weight 0"},
		{"spread", func(j *Job) {
			j.Spreads = []*Spread{{Attribute: "${node.datacenter}", Targets: []*SpreadTarget{{Percent: 60}, {Percent: 60}}}}
		}, "add up to 120"},
		{"share of canaries", func(j *Job) {
			j.Type, j.Groups[0].Count, j.Groups[0].Update.Canary = JobTypeSystem, nil, ptr(101)
		}, "at most 100"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := canonical()
			tc.break_(j)
			err := j.Validate()
			if CodeOf(err) != CodeInvalid || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want a complaint with %q, got: %v", tc.want, err)
			}
		})
	}
}

func TestUnsupportedNamesTheField(t *testing.T) {
	j := canonical()
	j.Region = "eu"
	j.Groups[0].Tasks[0].Templates = []*Template{{}}
	j.Groups[0].Networks[0].CNI = &CNI{}
	want := []string{
		`region "eu" is not supported: Reeve has one region; remove it, or set region = "global"`,
		`group "site": network: the cni block is not supported: only plugins read it; remove it, or set mode = "cni/NAME" in the group's network`,
	}
	if diff := cmp.Diff(want, Unsupported(j)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSecretsCountAsMemory(t *testing.T) {
	g := canonical().Groups[0]
	r := g.Tasks[0].Resources
	r.MemoryMB, r.MemoryMaxMB = ptr(64), nil
	before, quota := g.Usage().MemoryMB, g.QuotaUse()
	r.SecretsMB = ptr(16)
	if n := g.Usage().MemoryMB - before; n != 16 {
		t.Errorf("an instance requests %d MB more; want 16", n)
	}
	if u := g.QuotaUse(); u.MemoryMB-quota.MemoryMB != 16 || u.MemoryMaxMB-quota.MemoryMaxMB != 16 {
		t.Errorf("the quotas count %+v after %+v; want 16 MB more of both", u, quota)
	}
	for _, c := range []struct {
		most *int
		want int
	}{{nil, 0}, {ptr(0), 0}, {ptr(128), 144}, {ptr(MemoryUnlimited), MemoryUnlimited}} {
		r.MemoryMaxMB = c.most
		if mb, most := r.Memory(); mb != 80 || most != c.want {
			t.Errorf("Memory() = %d, %d; want 80, %d", mb, most, c.want)
		}
	}
}

func TestCopySharesNothing(t *testing.T) {
	a := canonical()
	b := a.Copy()
	if diff := cmp.Diff(a, b); diff != "" {
		t.Fatalf("copy differs:\n%s", diff)
	}
	b.Groups[0].Tasks[0].Env["COLOR"] = "red"
	b.Groups[0].Tasks[0].Config["command"] = "/bin/other"
	*b.Groups[0].Count = 9
	b.Groups[0].Networks[0].DynamicPorts[0].Label = "x"
	if diff := cmp.Diff(canonical(), a); diff != "" {
		t.Errorf("changing the copy changed the original:\n%s", diff)
	}
}

func TestSpecEqualIgnoresWhatTheServerWrites(t *testing.T) {
	a, b := canonical(), canonical()
	b.Version, b.Status, b.ModifyIndex, b.Stable = 7, "running", 99, true
	b.Meta = map[string]string{"owner": "ops"}
	b.Groups[0].Constraints = []*Constraint{}
	if !SpecEqual(a, b) {
		t.Error("equal specifications are told apart")
	}
	b.Groups[0].Tasks[0].Env["COLOR"] = "red"
	if SpecEqual(a, b) {
		t.Error("a changed variable goes unnoticed")
	}
}

func TestSpecSurvivesJSON(t *testing.T) {
	a := canonical()
	a.Groups[1].Tasks[0].Config["exit_code"] = 3
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var b Job
	if _, err := DecodeJSON(data, &b); err != nil {
		t.Fatal(err)
	}
	if !SpecEqual(a, &b) {
		t.Errorf("the job changed on its way through JSON:\n%s", cmp.Diff(a, &b))
	}
}
