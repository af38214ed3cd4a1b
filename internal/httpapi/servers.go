// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

func getServers(c *call) ([]*api.ServerStatus, error) { return c.Server.Servers(), nil }

func getAttention(c *call) ([]*api.Attention, error) {
	return append([]*api.Attention{}, c.Server.Attention(time.Now())...), nil
}

func getPeers(c *call) ([]string, error) {
	peers := []string{}
	for _, m := range c.Server.Servers() {
		if m.Voter {
			peers = append(peers, m.Address)
		}
	}
	return peers, nil
}

// getAgentServers answers with the servers that this agent knows.
func getAgentServers(c *call) ([]string, error) {
	addresses := []string{}
	if c.Server == nil {
		return append(addresses, c.Servers()...), nil
	}
	for _, m := range c.Server.Servers() {
		if m.Status != api.ServerLeft {
			addresses = append(addresses, m.Address)
		}
	}
	return addresses, nil
}

// setAgentServers replaces the servers that the agent of a node knows.
func setAgentServers(c *call, _ *none) (none, uint64, error) {
	switch addresses := c.query["address"]; {
	case c.Server != nil:
		return none{}, 0, api.Errorf(api.CodeInvalid, "this agent is a server: it knows the other servers from the log; send the request to the agent of a node")
	case c.SetServers == nil:
		return none{}, 0, api.Errorf(api.CodeInvalid, "this agent is no member of a cluster: restart it with other addresses in -servers")
	case len(addresses) == 0:
		return none{}, 0, api.Errorf(api.CodeInvalid, "the parameter address is missing: name at least one server, as address=HOST:PORT")
	default:
		return none{}, 0, c.SetServers(c.r.Context(), addresses)
	}
}

// member returns a server as clients of Nomad's API know it. The leader is who has its
// rpc_addr and port.
func (c *call) member(s *api.ServerStatus) *api.AgentMember {
	name, region, dc := cmp.Or(s.Name, s.ID), cmp.Or(s.Region, c.Region), cmp.Or(s.Datacenter, c.Datacenter)
	m := &api.AgentMember{
		Name: name + "." + region, Status: s.Status,
		ProtocolMin: 1, ProtocolMax: 5, ProtocolCur: 2, DelegateMin: 2, DelegateMax: 5, DelegateCur: 4,
		Tags: map[string]string{
			"role": "nomad", "region": region, "dc": dc, "id": s.ID, "build": cmp.Or(s.Version, c.Version), "vsn": "1", "raft_vsn": "3",
		},
	}
	if s.Status == api.ServerUnknown {
		m.Status = api.ServerAlive // as far as this server knows
	}
	if host, port, err := net.SplitHostPort(s.Address); err == nil {
		n, _ := strconv.ParseUint(port, 10, 16)
		m.Addr, m.Port = host, uint16(n)
		m.Tags["rpc_addr"], m.Tags["port"] = host, port
	}
	return m
}

func getMembers(c *call) (*api.AgentMembers, error) {
	list := &api.AgentMembers{ServerName: c.Name, ServerRegion: c.Region, ServerDC: c.Datacenter}
	for _, s := range c.Server.Servers() {
		list.Members = append(list.Members, c.member(s))
	}
	return list, nil
}

// serverNamed returns the id of the server that a client of Nomad's API names: by id, by
// name, or by name and region.
func (c *call) serverNamed(name string) (*api.ServerStatus, error) {
	s, err := c.Server.FindServer(name)
	if err == nil {
		return s, nil
	}
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		if s, withoutRegion := c.Server.FindServer(name[:i]); withoutRegion == nil {
			return s, nil
		}
	}
	return nil, err
}

func forceLeave(c *call, _ *none) (none, uint64, error) {
	if c.query.Get("node") == "" {
		return none{}, 0, api.Errorf(api.CodeInvalid, "the parameter node is missing: name the server that is to leave")
	}
	s, err := c.serverNamed(c.query.Get("node"))
	if err != nil {
		return none{}, 0, err
	}
	if s.Status == api.ServerAlive {
		return none{}, 0, api.Errorf(api.CodeConflict, "server %s is alive: stop it first, or use reeve server leave", s.ID)
	}
	if prune, err := c.flag("prune"); err != nil || prune {
		if err == nil {
			err = c.Server.Remove(c.r.Context(), s.ID, "")
		}
		return none{}, 0, err
	}
	return none{}, 0, c.Server.Leave(c.r.Context(), s.ID)
}

// raftServer returns a server in the form of Nomad's operator routes.
func raftServer(s *api.ServerStatus) *api.RaftServer {
	return &api.RaftServer{ID: s.ID, Node: cmp.Or(s.Name, "(unknown)"), Address: s.Address, Leader: s.Leader, Voter: s.Voter, RaftProtocol: "3"}
}

func getRaftConfig(c *call) (*api.RaftConfig, error) {
	config := &api.RaftConfig{Index: c.Server.RaftIndex(), Servers: []*api.RaftServer{}}
	for _, s := range c.Server.Servers() {
		if s.Status != api.ServerLeft {
			config.Servers = append(config.Servers, raftServer(s))
		}
	}
	return config, nil
}

// refOf returns the server that the parameters id or address name.
func (c *call) refOf() (string, error) {
	id, address := c.query.Get("id"), c.query.Get("address")
	if id != "" && address != "" {
		return "", api.Errorf(api.CodeInvalid, "give id or address, not both")
	}
	return cmp.Or(id, address), nil
}

func removePeer(c *call, _ *none) (none, uint64, error) {
	ref, err := c.refOf()
	if err == nil && ref == "" {
		err = api.Errorf(api.CodeInvalid, "the parameter id is missing: name the server to remove")
	}
	if err != nil {
		return none{}, 0, err
	}
	return none{}, 0, c.Server.Leave(c.r.Context(), ref)
}

func transferLeadership(c *call, _ *none) (*api.TransferResult, uint64, error) {
	ref, err := c.refOf()
	if err != nil {
		return nil, 0, err
	}
	from, to, err := c.Server.TransferLeadership(c.r.Context(), ref)
	if err != nil {
		return nil, 0, err
	}
	result := &api.TransferResult{From: *raftServer(from)}
	if to != nil {
		result.To, result.Noop = *raftServer(to), from.ID == to.ID
	}
	return result, 0, nil
}

func getAutopilot(_ *call, v *state.Snapshot) (*api.AutopilotConfig, uint64, error) {
	config := v.Autopilot()
	return config, config.ModifyIndex, nil
}

// setAutopilot answers false instead of an error if the index of cas is not that of the
// stored configuration, as clients expect.
// Settings that the body lacks keep their values.
func setAutopilot(c *call, change *autopilotChange) (bool, uint64, error) {
	config := *c.Server.Store().Snapshot().Autopilot()
	if err := json.Unmarshal(change.text, &config); err != nil {
		return false, 0, invalidAutopilot(err)
	}
	return c.putAutopilot(&config)
}

// An autopilotChange is the body of a change: the settings that it has.
type autopilotChange struct {
	api.AutopilotConfig
	text []byte
}

// UnmarshalJSON checks the settings, and keeps the text.
func (a *autopilotChange) UnmarshalJSON(text []byte) error {
	a.text = bytes.Clone(text)
	return a.AutopilotConfig.UnmarshalJSON(text)
}

// invalidAutopilot returns an error about a body that is no configuration.
func invalidAutopilot(err error) error {
	var known *api.Error
	if errors.As(err, &known) {
		return err
	}
	return api.Errorf(api.CodeInvalid, "the body must be an autopilot configuration: %v", err)
}

func (c *call) putAutopilot(config *api.AutopilotConfig) (bool, uint64, error) {
	enforce, err := c.cas()
	if err != nil {
		return false, 0, err
	}
	index, err := c.Server.SetAutopilot(c.r.Context(), config, enforce)
	if enforce != nil && api.CodeOf(err) == api.CodeConflict {
		return false, 0, nil
	}
	return err == nil, index, err
}

// getAutopilotHealth answers 429 if a server is unhealthy.
func getAutopilotHealth(c *call) error {
	h := &api.AutopilotHealth{Healthy: true, FailureTolerance: c.Server.FailureTolerance(), Servers: []*api.ServerHealth{}, Voters: []string{}}
	for _, s := range c.Server.Servers() {
		if s.Status == api.ServerLeft {
			continue
		}
		h.Healthy = h.Healthy && s.Healthy
		if s.Leader {
			h.Leader = s.ID
		}
		if s.Voter {
			h.Voters = append(h.Voters, s.ID)
		}
		h.Servers = append(h.Servers, &api.ServerHealth{
			ID: s.ID, Name: cmp.Or(s.Name, s.ID), Address: s.Address, SerfStatus: c.member(s).Status, Version: cmp.Or(s.Version, c.Version),
			Leader: s.Leader, Voter: s.Voter, Healthy: s.Healthy, StableSince: s.StableSince,
			LastContact: s.LastContact.String(), LastTerm: s.LastTerm, LastIndex: s.LastIndex,
		})
	}
	status := http.StatusOK
	if !h.Healthy {
		status = http.StatusTooManyRequests
	}
	return c.writeJSON(status, h)
}

func leaveServer(c *call, _ *none) (none, uint64, error) {
	return none{}, 0, c.Server.Leave(c.r.Context(), c.id())
}

func promoteServer(c *call, _ *none) (none, uint64, error) {
	return none{}, 0, c.Server.Promote(c.r.Context(), c.id())
}

func removeServer(c *call, _ *none) (none, uint64, error) {
	return none{}, 0, c.Server.Remove(c.r.Context(), c.id(), c.query.Get("reason"))
}
