// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"
	"time"
)

func TestWhatOnlyBatchJobsMayHave(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Job)
		want   []string // none: it is right
	}{
		"all of it": {func(j *Job) {
			j.MaxPending, j.MaxRejections = ptr(time.Minute), ptr(0)
			j.Callback = &JobCallback{URL: "https://a.example:1/b?c=d", Headers: map[string]string{"Authorization": "Bearer x"}, Secret: "s", GiveUpAfter: ptr(time.Hour)}
		}, nil},
		"in a service": {func(j *Job) {
			j.Type, j.MaxPending, j.MaxRejections, j.Callback = JobTypeService, ptr(time.Minute), ptr(1), &JobCallback{URL: "http://a"}
		}, []string{"max_pending: is for batch jobs only", "max_rejections: is for batch jobs only", "callback: is for batch jobs only"}},
		"everything at once": {func(j *Job) {
			j.MaxPending, j.MaxRejections = ptr(-time.Second), ptr(101)
			j.Callback = &JobCallback{URL: "ftp://a", Headers: map[string]string{"Host": "b", "a b": "c", "X": "d\ne", "reeve-callback-id": "f"}, GiveUpAfter: ptr(time.Millisecond)}
		}, []string{"max_pending -1s: must be positive", "max_rejections 101: must be 0 to 100", `url "ftp://a": must begin with http:// or https://`,
			`header "Host": is set by the servers`, `header "a b": is not a header's name`, `header "X": its value must be one line`, `header "reeve-callback-id": is set by the servers`,
			"give_up_after 1ms: must be 1s to 720h0m0s"}},
		"no url":      {func(j *Job) { j.Callback = &JobCallback{} }, []string{"url is missing"}},
		"a password":  {func(j *Job) { j.Callback = &JobCallback{URL: "http://me:secret@a"} }, []string{"must not hold a user or password"}},
		"no host":     {func(j *Job) { j.Callback = &JobCallback{URL: "http:///x"} }, []string{"name a host"}},
		"too long":    {func(j *Job) { j.Callback = &JobCallback{URL: "http://a/" + strings.Repeat("x", 3000)} }, []string{"at most 2048"}},
		"a fragment":  {func(j *Job) { j.Callback = &JobCallback{URL: "http://a/#b"} }, []string{"after # is not sent"}},
		"for so long": {func(j *Job) { j.Callback = &JobCallback{URL: "http://a", GiveUpAfter: ptr(1000 * time.Hour)} }, []string{"must be 1s to 720h"}},
	} {
		j := webJob()
		j.Type = JobTypeBatch
		tt.change(j)
		var text strings.Builder
		for _, p := range j.BatchProblems() {
			text.WriteString(p.Text + "\n")
		}
		for _, want := range tt.want {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s: no %q in:\n%s", name, want, &text)
			}
		}
		if len(tt.want) == 0 && text.Len() > 0 {
			t.Errorf("%s: refused:\n%s", name, &text)
		}
	}
}
