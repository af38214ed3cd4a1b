// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

func TestWrongClocksWaitForAPerson(t *testing.T) {
	const small, hour = clockTolerance, time.Hour
	for _, k := range []struct {
		what  string
		ahead map[string]time.Duration
		want  []string
	}{
		{"nothing is known", nil, nil},
		{"small differences", map[string]time.Duration{"2": small, "3": -small}, nil},
		{"one is ahead", map[string]time.Duration{"2": hour, "3": 0}, []string{"The clock of server two is 1h0m0s ahead of the clock of server one, which leads"}},
		{"the other is unknown", map[string]time.Duration{"3": -hour}, []string{"The clock of server three is 1h0m0s behind the clock of server one, which leads"}},
		{"all are ahead", map[string]time.Duration{"2": hour, "3": hour + small}, []string{"The clock of server one, which leads, is 1h0m0s behind the clocks of all others"}},
		{"all differ", map[string]time.Duration{"2": hour, "3": -hour}, []string{
			"The clock of server two is 1h0m0s ahead of the clock of server one, which leads", "The clock of server three is 1h0m0s behind the clock of server one, which leads"}},
		{"one that left", map[string]time.Duration{"4": hour}, nil},
	} {
		c := clocks{ahead: k.ahead}
		var servers []*api.ServerStatus
		for i, name := range []string{"one", "two", "three", "four"} {
			servers = append(servers, &api.ServerStatus{ID: fmt.Sprint(i + 1), Name: name, Leader: i == 0, Status: api.ServerAlive})
		}
		servers[3].Status = api.ServerLeft
		var got []string
		for _, a := range c.attention(servers) {
			got = append(got, a.Message)
			if a.Next == "" {
				t.Errorf("%s: %q has no next step", k.what, a.Message)
			}
		}
		if !slices.Equal(got, k.want) {
			t.Errorf("%s: got %q, want %q", k.what, got, k.want)
		}
	}
}
