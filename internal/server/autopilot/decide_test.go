// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package autopilot

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

var now = time.Unix(1_790_000_000, 0)

// parse reads servers such as "A:leader B:voter C:voter,silent=6m D:new,stable=3s".
func parse(t *testing.T, text string) (servers []Server) {
	t.Helper()
	for _, word := range strings.Fields(text) {
		id, traits, _ := strings.Cut(word, ":")
		s := Server{ID: id, Healthy: true, Contacted: true, Since: now.Add(-time.Hour)}
		for _, trait := range strings.Split(traits, ",") {
			key, value, _ := strings.Cut(trait, "=")
			d, _ := time.ParseDuration(value)
			switch key {
			case "leader":
				s.Leader, s.Voter = true, true
			case "voter":
				s.Voter = true
			case "new":
			case "stable":
				s.Since = now.Add(-d)
			case "silent":
				s.Healthy, s.LastContact, s.Since = false, d, now.Add(-d)
			case "lags":
				s.Healthy, s.LastContact, s.Trailing, s.Since = false, 10*time.Millisecond, 1000, now.Add(-d)
			default:
				t.Fatalf("unknown trait %q", key)
			}
		}
		servers = append(servers, s)
	}
	return servers
}

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name, servers, want string
		change              func(*View)
	}{
		{"alone", "A:leader", "", nil},
		{"all is well", "A:leader B:voter C:voter", "", nil},
		{"the second server votes after a second", "A:leader B:new,stable=1s", "promote B", nil},
		{"a second has not passed", "A:leader B:new,stable=900ms", "", nil},
		{"the second and the third together", "A:leader B:new,stable=2s C:new,stable=2s", "promote B, promote C", nil},
		{"the fourth server waits", "A:leader B:voter C:voter D:new,stable=9s", "", nil},
		{"the fourth server votes", "A:leader B:voter C:voter D:new,stable=10s", "promote D", nil},
		{"a lagging server does not vote", "A:leader B:new,lags=1h", "", nil},
		{"a silent server does not vote", "A:leader B:voter C:voter D:new,silent=1m", "", nil},
		{"one of three is dead: the others gain nothing", "A:leader B:voter C:voter,silent=1h", "", nil},
		{"one of three is dead for days", "A:leader B:voter C:voter,silent=73h", "remove C", nil},
		{"a dead one of three was replaced", "A:leader B:voter C:voter,silent=6m D:voter", "remove C", nil},
		{"a machine that restarts is not dead", "A:leader B:voter C:voter,silent=4m D:voter", "", nil},
		{"two of five are dead", "A:leader B:voter C:voter D:voter,silent=1h E:voter,silent=1h", "remove D, remove E", nil},
		{"a lagging voter is not dead", "A:leader B:voter C:voter,lags=1h D:voter", "", nil},
		{"the quorum is lost", "A:leader B:voter,silent=80h C:voter,silent=80h", "", nil},
		{"one of two is dead: no quorum", "A:leader B:voter,silent=80h", "", nil},
		{"a dead server that never voted", "A:leader B:voter C:voter D:new,silent=6m", "", nil},
		{"a dead server that never voted is forgotten", "A:leader B:voter C:voter D:new,silent=73h", "remove D", nil},
		{"cleanup is off", "A:leader B:voter C:voter,silent=80h D:voter", "", func(v *View) { v.Config.CleanupDeadServers = false }},
		{"enough voters remain", "A:leader B:voter C:voter,silent=80h D:voter", "remove C", func(v *View) { v.Config.MinQuorum = 3 }},
		{"too few voters would remain", "A:leader B:voter C:voter,silent=80h D:voter", "", func(v *View) { v.Config.MinQuorum = 4 }},
		{"the leader cannot work", "A:leader B:voter,silent=1s C:voter", "transfer C", func(v *View) { v.Trouble = "the state is damaged" }},
		{"the leader cannot work, and nobody else can", "A:leader B:voter,silent=1s", "", func(v *View) { v.Trouble = "the state is damaged" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := View{Now: now, Config: api.DefaultAutopilotConfig(), Servers: parse(t, c.servers)}
			if c.change != nil {
				c.change(&v)
			}
			var got []string
			for _, a := range Decide(v) {
				if a.Reason == "" {
					t.Errorf("%s %s has no reason", a.Verb, a.ID)
				}
				got = append(got, fmt.Sprint(a.Verb, " ", a.ID))
			}
			if s := strings.Join(got, ", "); s != c.want {
				t.Errorf("with %s: %q; want %q", c.servers, s, c.want)
			}
		})
	}
}

// TestRemovalsKeepTheQuorum tries every combination of up to seven voters: after each
// removal the healthy ones decide, and the tolerance never falls.
func TestRemovalsKeepTheQuorum(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for dead := range 1 << n {
			text := "L:leader"
			for i := 1; i < n; i++ {
				text += fmt.Sprintf(" S%d:voter", i)
				if dead>>i&1 == 1 {
					text += ",silent=100h"
				}
			}
			servers := parse(t, text)
			voters, healthy := count(servers)
			before := Tolerance(servers)
			for _, a := range Decide(View{Now: now, Config: api.DefaultAutopilotConfig(), Servers: servers}) {
				voters--
				if healthy < quorum(voters) {
					t.Errorf("%s: after %s %s, %d of %d voters are healthy", text, a.Verb, a.ID, healthy, voters)
				}
			}
			if after := max(0, healthy-quorum(voters)); after < before {
				t.Errorf("%s: the tolerance falls from %d to %d", text, before, after)
			}
		}
	}
}

func TestAssess(t *testing.T) {
	config := api.DefaultAutopilotConfig()
	servers := []Server{
		{ID: "A", Leader: true}, {ID: "B", Contacted: true, LastContact: 100 * time.Millisecond, Trailing: 250},
		{ID: "C", Contacted: true, LastContact: 201 * time.Millisecond}, {ID: "D", Contacted: true, Trailing: 251}, {ID: "E"},
	}
	first := Assess(nil, servers, config, now)
	for i, want := range []bool{true, true, false, false, false} {
		if s := first[i]; s.Healthy != want || !s.Since.Equal(now) {
			t.Errorf("%s is healthy: %t since %s; want %t since the first look", s.ID, s.Healthy, s.Since, want)
		}
	}
	servers[2].LastContact = 0
	later := now.Add(time.Second)
	second := Assess(first, servers, config, later)
	for i, want := range []time.Time{now, now, later, now, now} {
		if !second[i].Since.Equal(want) {
			t.Errorf("%s has its health since %s; want %s", second[i].ID, second[i].Since, want)
		}
	}
}
