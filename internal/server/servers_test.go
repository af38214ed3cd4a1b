// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// statuses describes the servers as a server knows them, such as "server-1 voter alive".
func statuses(s *server.Server) string {
	var list []string
	for _, m := range s.Servers() {
		role := "new"
		switch {
		case m.Leader:
			role = "leader"
		case m.Voter:
			role = "voter"
		}
		list = append(list, fmt.Sprint(m.ID, " ", role, " ", m.Status))
	}
	return strings.Join(list, ", ")
}

func refused(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("refused with %v; want %q", err, words)
	}
}

func TestServersLeaveAndAreRemoved(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tr := newTrio(t)
		defer tr.close()
		lead := tr.leader()
		c := &cluster{TB: t, Server: lead}
		c.pass(time.Second)
		if got := statuses(lead); got != "server-0 leader alive, server-1 voter alive, server-2 voter alive" {
			t.Errorf("the servers: %s", got)
		}
		if got := statuses(tr.servers["server-1"]); got != "server-0 leader unknown, server-1 voter unknown, server-2 voter unknown" {
			t.Errorf("the servers in a follower's view: %s", got)
		}
		if n := lead.FailureTolerance(); n != 1 {
			t.Errorf("%d servers may fail", n)
		}
		refused(t, tr.servers["server-1"].Leave(t.Context(), "server-2"), "is not the leader yet")
		refused(t, lead.Remove(t.Context(), "server-0", ""), "transfer leadership first")
		refused(t, lead.Leave(t.Context(), "server-9"), "not found: see reeve server list")
		refused(t, lead.Leave(t.Context(), "serv"), "3 servers match")
		refused(t, lead.Promote(t.Context(), ""), "not found: see reeve server list")

		if err := lead.Leave(t.Context(), "server-2"); err != nil {
			t.Fatal(err)
		}
		if got := statuses(lead); got != "server-0 leader alive, server-1 voter alive" {
			t.Errorf("after one left: %s", got)
		}
		if err := lead.Replica().AddNonvoter(t.Context(), "server-2", "server-2"); err != nil {
			t.Fatal(err)
		}
		if err := lead.Promote(t.Context(), "server-2"); err != nil {
			t.Fatal(err)
		}
		if err := lead.Remove(t.Context(), "server-2", "its disk failed"); err != nil {
			t.Fatal(err)
		}
		if r := lead.Store().Snapshot().Revocation("server-2"); r == nil || r.Reason != "its disk failed" {
			t.Errorf("the removed server is excluded: %+v", r)
		}
		from, to, err := lead.TransferLeadership(t.Context(), "")
		if err != nil || from.ID != "server-0" || to == nil || to.ID != "server-1" {
			t.Errorf("leadership went from %+v to %+v, %v", from, to, err)
		}
	})
}

// TestAutopilotPromotes adds servers that do not vote: the second and the third vote after a
// second, the fourth after ten. A dead one is removed once it was replaced.
func TestAutopilotPromotes(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tr := newTrio(t)
		defer tr.close()
		lead := tr.leader()
		c := &cluster{TB: t, Server: lead}
		id := "server-3"
		s, err := server.New(server.Config{DataDir: t.TempDir(), ServerID: id, Transport: tr.lan.join(id), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		tr.servers[id] = s
		if err := lead.Replica().AddNonvoter(t.Context(), id, id); err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.pass(9 * time.Second)
		if got := statuses(lead); !strings.Contains(got, "server-3 new alive") {
			t.Errorf("after 9 s: %s", got)
		}
		c.pass(2 * time.Second)
		if got := statuses(lead); !strings.Contains(got, "server-3 voter alive") {
			t.Errorf("after 11 s: %s", got)
		}

		tr.end(tr.servers["server-1"], false)
		c.pass(3 * time.Second)
		if got := statuses(lead); !strings.Contains(got, "server-1 voter failed") {
			t.Errorf("3 s after the end of a server: %s", got)
		}
		refused(t, lead.Promote(t.Context(), "server-9"), "not found: see reeve server list")
		c.pass(6 * time.Minute)
		if got := statuses(lead); strings.Contains(got, "server-1") {
			t.Errorf("6 minutes after the end of a server that was replaced: %s", got)
		}
		tr.end(tr.servers["server-2"], false)
		c.pass(6 * time.Minute)
		if got := statuses(lead); !strings.Contains(got, "server-2 voter failed") {
			t.Errorf("a dead server was removed although the others gain nothing: %s", got)
		}
		refused(t, lead.Leave(t.Context(), "server-3"), "only 1 of 2 voters would answer")
	})
}

func TestAutopilotConfiguration(t *testing.T) {
	simulate(t, func(c *cluster) {
		config := *c.Store().Snapshot().Autopilot()
		if config != *api.DefaultAutopilotConfig() {
			t.Errorf("the configuration at the beginning: %+v", config)
		}
		config.MaxTrailingLogs = 0
		_, err := c.SetAutopilot(t.Context(), &config, nil)
		refused(t, err, "MaxTrailingLogs is 0")
		config.MaxTrailingLogs, config.CleanupDeadServers = 500, false
		index, err := c.SetAutopilot(t.Context(), &config, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = c.SetAutopilot(t.Context(), &config, new(uint64)); api.CodeOf(err) != api.CodeConflict {
			t.Errorf("a change of a configuration that has changed: %v", err)
		}
		if stored := c.Store().Snapshot().Autopilot(); stored.MaxTrailingLogs != 500 || stored.CleanupDeadServers || stored.ModifyIndex != index {
			t.Errorf("stored: %+v", stored)
		}
		c.until("stored", func(s *state.Snapshot) bool { return s.Autopilot().ModifyIndex == index })
		_, _, err = c.TransferLeadership(t.Context(), "")
		refused(t, err, "not part of a cluster")
		refused(t, c.Leave(t.Context(), c.ServerID()), "not part of a cluster")
	})
}
