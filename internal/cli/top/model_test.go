// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/filter"
)

var now = time.Unix(1_800_000_000, 0)

// reading returns a cluster of three servers in which one lags behind.
func reading(seconds int, applied, evaluations uint64) *Snapshot {
	return &Snapshot{
		Time: now.Add(time.Duration(seconds) * time.Second), Address: "https://10.0.0.1:4646", Leader: "10.0.0.1:4646",
		Counts: &Counts{
			Jobs: map[string]int{"running": 2, "dead": 0}, Nodes: map[string]int{"ready": 2, "down": 1},
			Allocations: map[string]int{"running": 7}, Crashing: 1, Applied: applied, Requests: 100 * uint64(seconds), Leads: true, Waiting: 3, Working: 1,
		},
		Servers: []*api.ServerStatus{
			{ID: "a", Name: "one", Address: "10.0.0.1:4646", Status: api.ServerAlive, Leader: true, Voter: true, Evaluations: evaluations},
			{ID: "b", Name: "two", Address: "10.0.0.2:4646", Status: api.ServerAlive, Voter: true, Trailing: 12, Evaluations: 5},
		},
		Jobs: List[*api.JobListStub]{Items: []*api.JobListStub{
			{ID: "api", Namespace: "default", Type: "service", Status: "running", JobSummary: &api.JobSummary{}},
			{ID: "web", Namespace: "default", Type: "service", Status: "running", JobSummary: &api.JobSummary{
				Summary: map[string]api.GroupSummary{"web": {Running: 1, Crashing: 1}}}},
		}},
		Nodes: List[*api.NodeListStub]{Items: []*api.NodeListStub{
			{ID: "1", Name: "n1", Status: api.NodeStatusReady, SchedulingEligibility: api.NodeEligible},
			{ID: "2", Name: "n2", Status: api.NodeStatusDown, SchedulingEligibility: api.NodeEligible},
		}},
	}
}

func press(m *Model, keys string) (reread bool) {
	for _, key := range Keys([]byte(keys)) {
		reread = m.Press(key) || reread
	}
	return reread
}

func screen(m *Model, width, height int) string {
	return strings.Join(m.Lines(term.Style{}, now, width, height), "\n")
}

func TestTheClusterViewShowsLeaderLagCountsAndRates(t *testing.T) {
	m := &Model{}
	m.Show(reading(0, 1000, 10), "")
	m.Show(reading(2, 1050, 16), "")
	want := `[1 Cluster]  2 Servers  3 Jobs  4 Nodes  https://10.0.0.1:4646
Leader      = 10.0.0.1:4646
Lag         = 12 entries on two
Nodes       = 1 down, 2 ready
Jobs        = 2 running
Allocations = 7 running
Unhealthy   = 1 crashing
Queue       = 3 evaluations waiting, 1 in work, 0 blocked
Per second  = 25 changes, 3.0 evaluations, 100 requests here

Servers
ID  Name  Address        Version  Status  Role    Behind  Evaluations  Certificate
a   one   10.0.0.1:4646  -        alive   leader  0       16           -
b   two   10.0.0.2:4646  -        alive   voter   12      5            -


q quit  tab/1-4 view  / filter  s sort  r reverse  j/k scroll`
	if diff := cmp.Diff(want, screen(m, 100, 17)); diff != "" {
		t.Errorf("screen (-want +got):\n%s", diff)
	}
}

func TestRatesNeedTwoReadingsOfOneServer(t *testing.T) {
	other := reading(2, 1050, 16)
	other.Address = "https://10.0.0.2:4646"
	node := reading(2, 0, 0)
	node.Counts = nil
	for name, pair := range map[string][2]*Snapshot{
		"the first reading":    {nil, reading(2, 1050, 16)},
		"another server":       {reading(0, 1000, 10), other},
		"an agent of a node":   {reading(0, 1000, 10), node},
		"a restarted server":   {reading(0, 1000, 10), reading(2, 900, 16)},
		"two at the same time": {reading(2, 1000, 10), reading(2, 1050, 16)},
	} {
		if r := RatesOf(pair[0], pair[1]); r != nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := RatesOf(reading(0, 1000, 10), reading(2, 1050, 0)); r == nil || r.Evaluations != 0 {
		t.Errorf("another server restarted: %+v, want no negative evaluations", r)
	}
}

func TestKeysSelectViewsAndOrders(t *testing.T) {
	m := &Model{}
	m.Show(reading(0, 1, 1), "")
	if !press(m, "3") || m.View != ViewJobs || press(m, "3") {
		t.Errorf("key 3: view %d", m.View)
	}
	if !press(m, "\t") || m.View != ViewNodes || !press(m, "\t") || m.View != ViewCluster || !press(m, "\x1b[Z") || m.View != ViewNodes {
		t.Errorf("tab: view %d", m.View)
	}
	order := func() string {
		text := screen(m, 120, 10)
		if strings.Index(text, "n1") < strings.Index(text, "n2") {
			return "n1 n2"
		}
		return "n2 n1"
	}
	for _, step := range []struct{ keys, want string }{{"", "n2 n1"}, {"s", "n1 n2"}, {"r", "n2 n1"}, {"r", "n1 n2"}, {"sss", "n2 n1"}} {
		if press(m, step.keys); order() != step.want {
			t.Errorf("after %q: %s, want %s", step.keys, order(), step.want)
		}
	}
	press(m, "3")
	if text := screen(m, 120, 10); strings.Index(text, "web") > strings.Index(text, "api") || !strings.Contains(text, "by problems") {
		t.Errorf("the job with a problem is not first:\n%s", text)
	}
	if press(m, "q"); !m.Quit {
		t.Error("q does not quit")
	}
}

func TestAFilterAppliesWithEnterAndIsText(t *testing.T) {
	m := &Model{View: ViewJobs}
	if press(m, "/we`b.\x7f$q"); m.Filter != "" || m.Quit || !m.Editing {
		t.Fatalf("while editing: %+v", m)
	}
	if !press(m, "\r") || m.Filter != "web$q" || m.Editing {
		t.Fatalf("after enter: %+v", m)
	}
	for _, expression := range []string{m.Request().JobFilter(), Request{All: true, filter: "a\\b\"(["}.NodeFilter()} {
		if _, err := filter.Parse(expression); err != nil {
			t.Errorf("%s: %v", expression, err)
		}
	}
	if press(m, "/x\x1b"); m.Filter != "web$q" || m.Editing {
		t.Errorf("escape while editing: %+v", m)
	}
	if !press(m, "\x1b") || m.Filter != "" || m.Request().JobFilter() != "" {
		t.Errorf("escape: %+v", m)
	}
}

func TestNamesOfOthersCannotControlTheTerminal(t *testing.T) {
	const hostile = "x\x1b]0;owned\x07\x1b[2J\ny\u202e"
	s := reading(0, 1, 1)
	s.Leader, s.Servers[1].Name, s.Servers[1].Version = hostile, hostile, hostile
	s.Attention = []*api.Attention{{Message: hostile, Next: hostile}}
	s.Counts.Nodes[hostile] = 3
	s.Jobs.Items[0].ID, s.Jobs.Items[0].Namespace = hostile, hostile
	n := s.Nodes.Items[0]
	n.Name, n.Datacenter, n.NodeClass, n.Drivers = hostile, hostile, hostile, map[string]*api.DriverStatus{hostile: {Detected: true, Healthy: true}}
	p := &term.Page{Now: now}
	Write(p, s)
	text := p.String()
	m := &Model{}
	m.Show(s, hostile)
	for view := range views {
		m.View = view
		text += screen(m, 200, 40)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == '\u202e' }); i >= 0 {
		t.Errorf("control character %q in: %q", text[i], text[max(0, i-40):i+10])
	}
}

func TestEveryScreenFitsItsTerminal(t *testing.T) {
	s := reading(0, 1, 1)
	for i := range 40 {
		s.Nodes.Items = append(s.Nodes.Items, &api.NodeListStub{ID: fmt.Sprint(i), Name: strings.Repeat("long", 20), Status: api.NodeStatusReady})
	}
	s.Nodes.More = true
	for _, size := range [][2]int{{200, 60}, {80, 24}, {40, 10}, {20, 5}, {1, 1}} {
		m := &Model{}
		m.Show(s, "something that is long enough to fill more than one line of a narrow terminal")
		for view := range views {
			m.View = view
			lines := m.Lines(term.Style{On: true}, now, size[0], size[1])
			if len(lines) != size[1] {
				t.Errorf("view %d on %v: %d lines", view, size, len(lines))
			}
			for _, line := range lines {
				if term.VisibleWidth(line) > size[0] {
					t.Errorf("view %d on %v: %q is too wide", view, size, line)
				}
			}
		}
	}
}

func TestListsScrollWithinTheirRows(t *testing.T) {
	s := reading(0, 1, 1)
	s.Nodes.Items = nil
	for i := range 30 {
		s.Nodes.Items = append(s.Nodes.Items, &api.NodeListStub{ID: fmt.Sprint(i), Name: fmt.Sprintf("node%02d", i), Status: api.NodeStatusReady})
	}
	m := &Model{View: ViewNodes}
	m.Show(s, "")
	for _, step := range []struct{ keys, first, last string }{
		{"", "node00", "node06"}, {"j", "node01", "node07"}, {"kkk", "node00", "node06"}, {"\x1b[6~", "node07", "node13"},
		{strings.Repeat("\x1b[6~", 9), "node23", "node29"}, {strings.Repeat("\x1b[5~", 9), "node00", "node06"},
	} {
		screen(m, 100, 10)
		press(m, step.keys)
		lines := strings.Split(screen(m, 100, 10), "\n")
		if !strings.Contains(lines[2], step.first) || !strings.Contains(lines[8], step.last) {
			t.Errorf("after %q: %q to %q, want %s to %s", step.keys, lines[2], lines[8], step.first, step.last)
		}
	}
}

func TestALostLeaderAndMissingListsAreNamed(t *testing.T) {
	m := &Model{}
	m.Show(&Snapshot{Address: "http://127.0.0.1:4646"}, "No server leads")
	if text := screen(m, 100, 10); !strings.Contains(text, "none: the cluster accepts no changes without a leader") || !strings.Contains(text, "No server leads") {
		t.Errorf("without a leader:\n%s", text)
	}
	m.View = ViewJobs
	if text := screen(m, 100, 10); !strings.Contains(text, "Reading...") {
		t.Errorf("before the first list:\n%s", text)
	}
	m.last.Jobs = List[*api.JobListStub]{Missing: "a token is needed"}
	if text := screen(m, 100, 10); !strings.Contains(text, "a token is needed") {
		t.Errorf("without rights:\n%s", text)
	}
	m.Fail("the server is gone")
	if text := screen(m, 100, 10); !strings.Contains(text, "the server is gone") || !strings.Contains(text, "a token is needed") {
		t.Errorf("after a failure, the last reading stays:\n%s", text)
	}
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte("\x1b[6~\x1b\x1b[Aq/\xff\r"))
	f.Fuzz(func(t *testing.T, input []byte) {
		m := &Model{}
		m.Show(reading(0, 1, 1), "")
		for _, key := range Keys(input) {
			m.Press(key)
		}
		if lines := m.Lines(term.Style{}, now, 40, 8); len(lines) != 8 {
			t.Errorf("%d lines after %q", len(lines), input)
		}
	})
}
