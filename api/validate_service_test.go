// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestValidateChecks(t *testing.T) {
	const at = `group "g", task "t", service "s", check "c"`
	for name, c := range map[string]struct {
		change func(*Check)
		want   []string
	}{
		"good liveness":  {func(k *Check) { k.Kind, k.InitialDelay, k.StartTimeout = "liveness", time.Second, time.Minute }, nil},
		"good readiness": {func(k *Check) { k.Kind, k.InitialDelay = "readiness", time.Second }, nil},
		"good grpc":      {func(k *Check) { k.Type, k.GRPCService, k.GRPCUseTLS = "grpc", "shop.Cart", true }, nil},
		"kind":           {func(k *Check) { k.Kind = "healthy" }, []string{at + `: kind "healthy": must be liveness or readiness`}},
		"start timeout of readiness": {func(k *Check) { k.Kind, k.StartTimeout = "readiness", time.Second },
			[]string{at + `: start_timeout is for kind "liveness" only: readiness kills nothing`}},
		"start timeout over before it begins": {func(k *Check) { k.Kind, k.InitialDelay, k.StartTimeout = "liveness", time.Minute, time.Minute },
			[]string{at + `: start_timeout 1m0s: must be more than initial_delay 1m0s`}},
		"readiness that restarts": {func(k *Check) { k.Kind, k.CheckRestart = "readiness", &CheckRestart{Limit: 3} },
			[]string{at + `: check_restart: a check of kind "readiness" restarts nothing; use kind "liveness", or no kind`}},
		"liveness that restarts twice over": {func(k *Check) { k.Kind, k.CheckRestart = "liveness", &CheckRestart{Limit: 3} },
			[]string{at + `: check_restart: a check of kind "liveness" restarts its task after failures_before_critical failures in a row; use that`}},
		"grpc fields": {func(k *Check) { k.GRPCService = "shop.Cart" }, []string{at + `: grpc_service and grpc_use_tls are for type "grpc"`}},
		"everything at once": {func(k *Check) {
			k.Kind, k.InitialDelay, k.Interval, k.Timeout, k.SuccessBeforePassing = "x", -1, time.Millisecond, time.Microsecond, -1
		}, []string{
			at + ": interval 1ms: must be at least 1s", at + ": timeout 1µs: must be at least 1ms",
			at + ": success_before_passing and failures_before_critical must not be negative",
			at + ": initial_delay and start_timeout must not be negative", at + `: kind "x": must be liveness or readiness`,
		}},
	} {
		k := &Check{Name: "c", Type: CheckTCP}
		c.change(k)
		j := &Job{ID: "j", Type: JobTypeService, Datacenters: []string{"*"}, Groups: []*Group{{Name: "g", Tasks: []*Task{{
			Name: "t", Driver: "raw_exec", Config: map[string]any{"command": "true"}, Services: []*Service{{Name: "s", PortLabel: "80", Checks: []*Check{k}}},
		}}}}}
		j.Canonicalize()
		var got []string
		if err := j.Validate(); err != nil {
			for _, line := range strings.Split(err.Error(), "\n") {
				if _, words, ok := strings.Cut(line, at); ok {
					got = append(got, at+words)
				}
			}
			if len(got) == 0 {
				t.Errorf("%s: refused for something else: %v", name, err)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: complaints (-want +got):\n%s", name, d)
		}
	}
}

// A service's check_restart is for those of its checks that restart nothing by
// themselves.
func TestCheckRestartIsInherited(t *testing.T) {
	s := &Service{Name: "s", CheckRestart: &CheckRestart{Limit: 3}, Checks: []*Check{{Name: "a"}, {Name: "b", Kind: "liveness"}, {Name: "c", Kind: "readiness"}}}
	canonicalizeServices([]*Service{s}, "t")
	for _, k := range s.Checks {
		if has, want := k.CheckRestart != nil, k.Kind == ""; has != want {
			t.Errorf("check %q of kind %q has check_restart: %t, want %t", k.Name, k.Kind, has, want)
		}
	}
}

func TestValidateMonitor(t *testing.T) {
	task := &Task{Name: "t", Goal: GoalFinish, Monitor: &Monitor{Interval: time.Millisecond, Timeout: time.Second, FailuresBeforeCritical: -1}}
	var c complaints
	task.validateMonitor(&c, "monitor")
	want := complaints{
		"monitor: command is missing", "monitor: only a task that keeps running can be monitored", "monitor: interval 1ms: must be at least 1s",
		"monitor: success_before_passing and failures_before_critical must not be negative",
	}
	if d := cmp.Diff(want, c); d != "" {
		t.Errorf("complaints (-want +got):\n%s", d)
	}
}
