// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"

	"github.com/reeve-run/reeve/api"
)

func pulling(name, done, total string) *api.AllocationListStub {
	return &api.AllocationListStub{Name: name, TaskStates: map[string]*api.TaskState{"web": {State: api.TaskStatePending, Events: []*api.TaskEvent{
		{Type: api.EventDriverMessage}, {Type: api.EventDriverMessage, Details: map[string]string{api.DetailBytesDone: done, api.DetailBytesTotal: total}},
	}}, "other": {}, "none": nil}}
}

// TestPullsAreAddedUp has sizes of hostile nodes, too.
func TestPullsAreAddedUp(t *testing.T) {
	for _, c := range []struct {
		list      []*api.AllocationListStub
		bar, want string
	}{
		{[]*api.AllocationListStub{pulling("web[0]", "30000000", "120000000")}, "[##........]", "pulling images for web[0]: 25%, 30.0 of 120.0 MB"},
		{[]*api.AllocationListStub{pulling("web[1]", "10", "10"), pulling("web[0]", "0", "10")}, "[#####.....]", "pulling images for 2 tasks: 50%, 0.0 of 0.0 MB"},
		{[]*api.AllocationListStub{pulling("web[0]", "999", "10")}, "[##########]", "pulling images for web[0]: 100%, 0.0 of 0.0 MB"},
		{[]*api.AllocationListStub{pulling("web[0]", "-9", "10")}, "[..........]", "pulling images for web[0]: 0%, 0.0 of 0.0 MB"},
		{[]*api.AllocationListStub{pulling("a", "1", "0"), pulling("a", "1", "x"), pulling("a", "", ""), pulling("a", "1", "9000000000000000000")}, "[..........]", ""},
	} {
		p := PullsOf(c.list)
		if got := Bar(p.Done, p.Total, 10); got != c.bar || p.Tasks > 0 && p.Words() != c.want || p.Tasks == 0 && c.want != "" {
			t.Errorf("%s %s; want %s %s", got, p.Words(), c.bar, c.want)
		}
	}
}
