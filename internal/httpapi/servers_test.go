// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	nomad "github.com/hashicorp/nomad/api"
	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// patientElection is longer than a busy machine may keep a server from its processor: no
// server loses its leadership by that.
const patientElection = 3 * time.Second

// pairOfServers starts a cluster of two voting servers, of which the first leads.
func pairOfServers(t *testing.T) (first, second *server.Server) {
	t.Helper()
	transports := map[string]*raft.InmemTransport{}
	open := func(id, address string, bootstrap bool) *server.Server {
		_, transport := raft.NewInmemTransportWithTimeout(raft.ServerAddress(address), 100*time.Millisecond)
		for other, known := range transports {
			transport.Connect(raft.ServerAddress(other), known)
			known.Connect(raft.ServerAddress(address), transport)
		}
		transports[address] = transport
		s, err := server.New(server.Config{
			DataDir: t.TempDir(), ServerID: id, Addr: address, Transport: transport, Bootstrap: bootstrap, Logger: slog.New(slog.DiscardHandler),
			ElectionTimeout: patientElection,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	first = open("server-one", "10.0.0.1:4646", true)
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	second = open("server-two", "10.0.0.2:4646", false)
	if err := first.Replica().AddVoter(t.Context(), "server-two", "10.0.0.2:4646"); err != nil {
		t.Fatal(err)
	}
	if err := second.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "both servers are healthy", func() bool {
		return !slices.ContainsFunc(first.Servers(), func(m *api.ServerStatus) bool { return !m.Healthy || m.LastIndex == 0 })
	})
	return first, second
}

// TestOperatorsOfServers drives the routes of servers with Nomad's client.
func TestOperatorsOfServers(t *testing.T) {
	first, second := pairOfServers(t)
	h := newHarness(t, func(c *Config) { c.Server = first })
	c, err := nomad.NewClient(&nomad.Config{Address: h.http.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	if leader, err := c.Status().Leader(); err != nil || leader != "10.0.0.1:4646" {
		t.Errorf("the leader is %q, %v", leader, err)
	}
	if peers, err := c.Status().Peers(); err != nil || !slices.Equal(peers, []string{"10.0.0.1:4646", "10.0.0.2:4646"}) {
		t.Errorf("the peers are %v, %v", peers, err)
	}
	members, err := c.Agent().Members()
	if err != nil || len(members.Members) != 2 {
		t.Fatalf("the members are %+v, %v", members, err)
	}
	for i, m := range members.Members {
		if want := []string{"10.0.0.1", "10.0.0.2"}[i]; m.Addr != want || m.Status != "alive" || m.Tags["port"] != "4646" || m.Tags["role"] != "nomad" {
			t.Errorf("member %d: %+v", i, m)
		}
	}
	if servers, err := c.Agent().Servers(); err != nil || len(servers) != 2 {
		t.Errorf("the agent knows %v, %v", servers, err)
	}
	config, err := c.Operator().RaftGetConfiguration(nil)
	if err != nil || len(config.Servers) != 2 || config.Index < 2 || !config.Servers[0].Leader || !config.Servers[1].Voter || config.Servers[1].Node != "(unknown)" {
		t.Errorf("the configuration of raft is %+v, %v", config, err)
	}

	autopilot, _, err := c.Operator().AutopilotGetConfiguration(nil)
	if err != nil || !autopilot.CleanupDeadServers || autopilot.LastContactThreshold != 200*time.Millisecond {
		t.Fatalf("autopilot's configuration is %+v, %v", autopilot, err)
	}
	if got := h.do(http.MethodPut, "/v1/operator/autopilot/configuration", `{"MaxTrailingLogs": 500}`); got.status != http.StatusOK {
		t.Errorf("a change of one setting: %d %s", got.status, got.body)
	}
	if got := h.do(http.MethodPut, "/v1/operator/autopilot/configuration", `{"LastContactThreshold": "soon"}`); got.status != http.StatusBadRequest || !strings.Contains(got.body, "LastContactThreshold") {
		t.Errorf("a wrong duration: %d %s", got.status, got.body)
	}
	changed, _, err := c.Operator().AutopilotGetConfiguration(nil)
	if err != nil || changed.MaxTrailingLogs != 500 || !changed.CleanupDeadServers || changed.LastContactThreshold != 200*time.Millisecond || changed.ServerStabilizationTime != autopilot.ServerStabilizationTime {
		t.Errorf("absent settings changed: %+v, %v", changed, err)
	}
	autopilot = changed
	autopilot.MinQuorum, autopilot.ServerStabilizationTime = 3, 15*time.Second
	if ok, _, err := c.Operator().AutopilotCASConfiguration(autopilot, nil); err != nil || !ok {
		t.Errorf("the change of autopilot's configuration: %t, %v", ok, err)
	}
	if ok, _, err := c.Operator().AutopilotCASConfiguration(autopilot, nil); err != nil || ok {
		t.Errorf("a second change with an old index: %t, %v", ok, err)
	}
	autopilot.EnableRedundancyZones = true
	if _, err := c.Operator().AutopilotSetConfiguration(autopilot, nil); err == nil || !strings.Contains(err.Error(), "not supported") {
		t.Errorf("a setting that is not supported: %v", err)
	}
	if autopilot, _, err = c.Operator().AutopilotGetConfiguration(nil); err != nil || autopilot.MinQuorum != 3 || autopilot.ServerStabilizationTime != 15*time.Second {
		t.Errorf("the changed configuration is %+v, %v", autopilot, err)
	}
	health, _, err := c.Operator().AutopilotServerHealth(nil)
	if err != nil || !health.Healthy || health.FailureTolerance != 0 || health.Leader != "server-one" || len(health.Voters) != 2 || health.Servers[1].LastIndex == 0 {
		t.Errorf("the health is %+v, %v", health, err)
	}

	for words, err := range map[string]error{
		"the parameter node is missing":    c.Agent().ForceLeave(""),
		"server \"nobody.global\" not fou": c.Agent().ForceLeave("nobody.global"),
		"is alive: stop it first":          c.Agent().ForceLeave("server-two.global"),
		"transfer leadership first":        c.Operator().RaftRemovePeerByID("server-one", nil),
		"the parameter id is missing":      c.Operator().RaftRemovePeerByID("", nil),
		"server \"10.0.0.9:4646\" not f":   c.Operator().RaftRemovePeerByAddress("10.0.0.9:4646", nil),
	} {
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("refused with %v; want %q", err, words)
		}
	}
	if err := c.Operator().RaftTransferLeadershipByID("server-two", nil); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the second server leads", second.IsLeader)
	if leader, err := c.Status().Leader(); err != nil || leader != "10.0.0.2:4646" {
		t.Errorf("the leader in the view of the first server is %q, %v", leader, err)
	}
}

// TestUnhealthyServers ends a server: its health is told with status 429, and it can be
// removed.
func TestUnhealthyServers(t *testing.T) {
	first, _ := pairOfServers(t)
	h := newHarness(t, func(c *Config) { c.Server = first })
	if err := first.Replica().AddNonvoter(t.Context(), "server-lost", "10.0.0.3:4646"); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the lost server is failed", func() bool {
		m, err := first.FindServer("server-lost")
		return err == nil && m.Status == api.ServerFailed
	})
	res, err := http.Get(h.http.URL + "/v1/operator/autopilot/health")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the health of a cluster with a lost server has status %d", res.StatusCode)
	}
	if err := h.client.Servers().Promote(t.Context(), "server-lost"); err == nil || !strings.Contains(err.Error(), "must answer before it votes") {
		t.Errorf("the promotion of a lost server: %v", err)
	}
	if err := h.client.Servers().Remove(t.Context(), "server-lost", "its disk failed"); err != nil {
		t.Fatal(err)
	}
	list, err := h.client.Servers().List(t.Context())
	if err != nil || len(list) != 2 {
		t.Errorf("after the removal: %+v, %v", list, err)
	}
	if r := first.Store().Snapshot().Revocation("server-lost"); r == nil || r.Reason != "its disk failed" {
		t.Errorf("the removed server is excluded: %+v", r)
	}
}
