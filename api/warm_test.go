// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestInvalidWarmUpsAreRefused(t *testing.T) {
	good := func() *WarmRequests {
		return &WarmRequests{Path: "/warm?size=1", Requests: 200, Over: 30 * time.Second}
	}
	with := func(change func(*WarmRequests)) func(*Job) {
		return func(j *Job) {
			r := good()
			change(r)
			j.Stack.Warm.HTTP = []*WarmRequests{r}
		}
	}
	path := func(path string) func(*Job) { return with(func(r *WarmRequests) { r.Path = path }) }
	for name, k := range map[string]struct {
		change func(*Job)
		want   string // "": it is valid
	}{
		"good": {with(func(*WarmRequests) {}), ""},
		"ten blocks": {func(j *Job) {
			j.Stack.Warm.HTTP = []*WarmRequests{good(), good(), good(), good(), good(), good(), good(), good(), good(), good()}
		}, ""},
		"eleven blocks":     {func(j *Job) { j.Stack.Warm.HTTP = make([]*WarmRequests, 11) }, "11 http blocks are more than 10"},
		"a null block":      {func(j *Job) { j.Stack.Warm.HTTP = []*WarmRequests{nil} }, "an http block is null"},
		"no requests":       {func(j *Job) { j.Stack.Warm.HTTP = nil }, "has no requests"},
		"no port":           {func(j *Job) { j.Groups[0].Networks = nil }, "no port that requests can be sent to"},
		"zero":              {with(func(r *WarmRequests) { r.Requests = 0 }), "requests 0"},
		"negative":          {with(func(r *WarmRequests) { r.Requests = -1 }), "requests -1"},
		"too many":          {with(func(r *WarmRequests) { r.Requests = 1 << 30 }), "requests 1073741824: must be between 1 and 100000"},
		"too fast":          {with(func(r *WarmRequests) { r.Requests, r.Over = 2001, 2*time.Second }), "more than 1000 in a second"},
		"at once":           {with(func(r *WarmRequests) { r.Over = 0 }), "over 0s: must be between 1s and 1h0m0s"},
		"for ever":          {with(func(r *WarmRequests) { r.Over = 1 << 62 }), "must be between 1s and 1h0m0s"},
		"beyond a deadline": {with(func(r *WarmRequests) { r.Over = 10 * time.Minute }), `an instance needs up to 10m15s to be healthy (over 10m0s, 5s for the last request, min_healthy_time 10s), but healthy_deadline of group "api" is 5m0s; raise it, or shorten over`},
		"another host":      {path("http://169.254.169.254/"), "must be a path"},
		"an authority":      {path("@evil/"), "must be a path"},
		"a header":          {path("/ HTTP/1.1\r\nHost: evil"), "must be a path"},
		"a control":         {path("/\x00"), "must be a path"},
		"a fragment":        {path("/#a"), "must be a path"},
		"no path":           {path(""), "must be a path"},
		"a bad escape":      {path("/%zz"), "must be a path"},
		"a long path":       {path("/" + strings.Repeat("a", 2048)), "must be a path"},
		"two slashes":       {path("//evil.example.com/"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			job := &Job{ID: "inventory", Stack: &StackSpec{Version: "1.0.0", Warm: &WarmUp{HTTP: []*WarmRequests{good()}}}, Groups: []*Group{{
				Name: "api", Networks: []*Network{{DynamicPorts: []Port{{Label: "http"}}}}, Tasks: []*Task{{Name: "a", Driver: "mock"}},
			}}}
			k.change(job)
			job.Canonicalize()
			err := job.Validate()
			if k.want == "" && err != nil || k.want != "" && (err == nil || !strings.Contains(err.Error(), k.want)) {
				t.Errorf("the job: %v, want %q", err, k.want)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("the error has %d characters", len(err.Error()))
			}
		})
	}
}

func TestWarmUpsOfInstancesAddUp(t *testing.T) {
	var sum *WarmProgress
	if got := sum.String(); got != "" {
		t.Errorf("no warm-up is described as %q", got)
	}
	for _, p := range []*WarmProgress{nil, {Total: 100, Sent: 100, Done: true}, nil, {Total: 100, Sent: 20, Failed: 3, Failure: "GET /: status 500"}} {
		sum = sum.Plus(p)
	}
	if diff := cmp.Diff(&WarmProgress{Total: 200, Sent: 120, Failed: 3, Failure: "GET /: status 500"}, sum); diff != "" {
		t.Errorf("sum (-want +got):\n%s", diff)
	}
	if got, want := sum.String(), "warming: 120 of 200 requests, 3 failed"; got != want {
		t.Errorf("described as %q, want %q", got, want)
	}
	if got := (&WarmRequests{Requests: 200}).PerInstance(3); got != 67 {
		t.Errorf("one of 3 instances receives %d of 200 requests, want 67", got)
	}
	if got := (&WarmRequests{Requests: 2}).PerInstance(0); got != 2 {
		t.Errorf("an instance of a group without a count receives %d of 2 requests", got)
	}
}
