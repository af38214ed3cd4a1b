// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestEverythingThatIsWrongWithTrafficIsSaid(t *testing.T) {
	many := -1
	job := &Job{ID: "web", Groups: []*Group{{
		Name:     "site",
		Networks: []*Network{{DynamicPorts: []Port{{Label: "http"}}}},
		Routes: []*Route{
			{Host: "no good", Path: "x?y", Port: "https", Weight: &many, Timeout: -time.Second, Sticky: "a b"},
			{Protocol: "udp", Port: "http"},
			{Protocol: RouteTCP, Port: "http", Host: "x"},
			{Host: "a.example.com", Port: "http", Listen: 80},
			{Host: "A.example.com.", Port: "http"},
		},
		MetricTags: map[string]*MetricTag{"both": {Static: "a", Dynamic: MetricTagIndex}, "none": {}, "other": {Dynamic: "HOST"}},
		Services: []*Service{{
			Name: "site", PortLabel: "http", Provider: "nomad",
			Checks: []*Check{
				{Name: "a", Type: "http", Kind: "startup", Path: "/", Interval: time.Second, Timeout: -1},
				{Name: "b", Type: "ftp", Interval: time.Second, Timeout: time.Second, InitialDelay: -1, StartTimeout: -1, FailuresBeforeCritical: -1, SuccessBeforePassing: -1},
			},
		}},
		Tasks: []*Task{{Name: "a", Driver: "mock"}},
	}}}
	job.Canonicalize()
	var e *Error
	if !errors.As(job.Validate(), &e) {
		t.Fatal("the job is valid")
	}
	all := strings.Join(e.Detail, "\n")
	for _, want := range []string{
		`route 1: port "https" is not defined`, `route 1: weight -1`, `route 1: timeout -1s`, `route 1: host "no good"`, `route 1: path "x?y"`, `route 1: sticky "a b"`,
		`route 2: protocol "udp"`, `route 3: listen 0`, `route 3: host, path`, `route 4: listen is for protocol`, `route 5: a.example.com/ is routed twice`,
		`metric_tag "both"`, `metric_tag "none"`, `metric_tag "other": dynamic "HOST"`,
		`check "a": kind "startup"`, `check "a": timeout -1ns`, `check "b": type "ftp"`,
		`check "b": initial_delay and start_timeout must not`, `check "b": success_before_passing and failures_before_critical must not`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among\n%s", want, all)
		}
	}
}
