// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
)

func TestAttentionToServers(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	days := func(n int) int64 { return now.Add(time.Duration(n) * 24 * time.Hour).UnixNano() }
	for _, k := range []struct {
		what     string
		change   func(servers []*api.ServerStatus)
		servers  int
		external bool
		want     []string // kind and a part of the message of each
	}{
		{"three well servers", nil, 3, false, nil},
		{"one server", nil, 1, false, nil},
		{"two servers", nil, 2, false, []string{"quorum: The cluster has 2 voting servers"}},
		{"one of three fails", func(s []*api.ServerStatus) { s[1].Status, s[1].LastContact = api.ServerFailed, time.Minute }, 3, false,
			[]string{"quorum: 2 of 3 voting servers answer", "server: Server two does not answer"}},
		{"one of five fails", func(s []*api.ServerStatus) { s[1].Status = api.ServerFailed }, 5, false, []string{"server: Server two does not answer"}},
		{"one left", func(s []*api.ServerStatus) { s[3].Status, s[3].Voter = api.ServerLeft, false }, 4, false, nil},
		{"lag", func(s []*api.ServerStatus) { s[2].Trailing = 900 }, 3, false, []string{"server: Server three is 900 log entries behind"}},
		{"a third of the life is left", func(s []*api.ServerStatus) { s[0].Expires = days(29); s[0].Issued = days(-61) }, 3, false, nil},
		{"the same of another authority", func(s []*api.ServerStatus) { s[0].Expires = days(29); s[0].Issued = days(-61) }, 3, true,
			[]string{"certificate: The certificate of server one expires in 696h"}},
		{"a renewal is overdue", func(s []*api.ServerStatus) { s[0].Issued, s[0].Expires = days(-80), days(10) }, 3, false, []string{"certificate: The certificate of server one expires in 240h"}},
		{"expired", func(s []*api.ServerStatus) { s[0].Expires = days(-1) }, 3, false, []string{"certificate: The certificate of server one expired 24h"}},
		{"an upgrade", func(s []*api.ServerStatus) { s[2].Version = "2" }, 3, false, []string{"version: Servers have different versions: 1 on one, two; 2 on three"}},
	} {
		var servers []*api.ServerStatus
		for i, name := range []string{"one", "two", "three", "four", "five"}[:k.servers] {
			servers = append(servers, &api.ServerStatus{
				ID: fmt.Sprint(i, i, i, i, i, i, i, i), Name: name, Version: "1", Status: api.ServerAlive, Leader: i == 0, Voter: true, Healthy: true,
				Issued: days(-20), Expires: days(70),
			})
		}
		if k.change != nil {
			k.change(servers)
		}
		var got []string
		for _, a := range attentionToServers(servers, 250, k.external, now) {
			got = append(got, a.Kind+": "+a.Message)
			if a.Next == "" {
				t.Errorf("%s: %q has no next step", k.what, a.Message)
			}
		}
		if len(got) != len(k.want) {
			t.Errorf("%s: got %q, want %q", k.what, got, k.want)
			continue
		}
		for i := range got {
			if !strings.HasPrefix(got[i], k.want[i]) {
				t.Errorf("%s: got %q, want %q", k.what, got[i], k.want[i])
			}
		}
	}
}

func TestAttentionToTheCluster(t *testing.T) {
	f := found(t)
	now := time.Now()
	if list := f.Attention(now); len(list) != 0 {
		t.Errorf("a new cluster: %+v", list[0])
	}
	two := f.request(pki.ServerToken)
	if _, err := f.Join(t.Context(), two); err != nil {
		t.Fatal(err)
	}
	if err := f.RotateCA(t.Context()); err != nil {
		t.Fatal(err)
	}
	config := *f.store.Snapshot().SchedulerConfig()
	config.PauseEvalBroker = true
	if _, err := f.propose(t.Context(), &state.SetSchedulerConfig{Config: &config}); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, a := range f.Attention(now.Add(time.Hour)) {
		kinds = append(kinds, a.Kind)
	}
	if got := strings.Join(kinds, " "); got != "root scheduler" {
		t.Errorf("attention to %q", got)
	}
}

// TestRefusedMachinesAreRemembered includes names with which strangers try to change the
// operator's terminal, or to fill memory.
func TestRefusedMachinesAreRemembered(t *testing.T) {
	f := found(t)
	refuse := func(name string) {
		t.Helper()
		r := f.request(pki.NodeToken)
		r.Name, r.Region = name, "elsewhere"
		if _, err := f.Join(t.Context(), r); err == nil {
			t.Fatal("the machine joined")
		}
	}
	refuse("db-1")
	refuse("db-1")
	list := f.Attention(time.Now())
	if len(list) != 1 || list[0].Kind != api.AttentionJoin || list[0].Count != 2 || !strings.Contains(list[0].Message, `Machine db-1 was refused: join: the machine is in region "elsewhere"`) {
		t.Errorf("attention: %+v", list)
	}
	for i := range 3 * maxRefusals {
		refuse(fmt.Sprintf("\x1b[2Jx%d\r%s", i, strings.Repeat("y", 200)))
	}
	list = f.Attention(time.Now())
	if len(list) != maxRefusals {
		t.Errorf("%d refusals are remembered", len(list))
	}
	for _, a := range list {
		if strings.ContainsAny(a.Message, "\x1b\r\n") || len(a.Message) > 500 {
			t.Errorf("unsafe message %q", a.Message)
		}
	}
}
