// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net"
	"runtime"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// getSelf answers with the configuration and statistics of this process.
func getSelf(c *call) (*api.AgentSelf, error) {
	enabled := func(part bool) map[string]any { return map[string]any{"Enabled": part} }
	self := &api.AgentSelf{
		Config: map[string]any{
			"Region": c.Region, "Datacenter": c.Datacenter, "Name": c.Name, "NodeName": c.Name,
			"Version": map[string]any{"Version": c.Version, "VersionPrerelease": "", "VersionMetadata": "", "Revision": ""},
			"Server":  enabled(c.Server != nil), "Client": enabled(c.Node != nil), "ACL": enabled(false),
		},
		Member: api.AgentMember{Name: c.Name, Tags: map[string]string{}, Status: "none"},
		Stats: map[string]map[string]string{"runtime": {
			"arch": runtime.GOARCH, "kernel.name": runtime.GOOS, "version": runtime.Version(),
			"cpu_count": strconv.Itoa(runtime.NumCPU()), "max_procs": strconv.Itoa(runtime.GOMAXPROCS(0)),
			"goroutines": strconv.Itoa(runtime.NumGoroutine()),
		}},
	}
	if c.Node != nil {
		self.Stats["client"] = map[string]string{"node_id": c.NodeID()}
	}
	if c.Server == nil {
		return self, nil
	}
	self.Member = *c.member()
	leader, index := c.Server.Leader(), strconv.FormatUint(c.Server.Store().Index(), 10)
	self.Stats["nomad"] = map[string]string{
		"server": "true", "leader": strconv.FormatBool(leader != ""), "leader_addr": leader, "bootstrap": "true", "known_regions": "1",
	}
	self.Stats["raft"] = map[string]string{"applied_index": index, "commit_index": index, "last_log_index": index, "num_peers": "0", "state": "Follower"}
	if leader != "" {
		self.Stats["raft"]["state"] = "Leader"
	}
	if stats := c.Server.Stats(); stats != nil {
		self.Stats["scheduler"] = stats
	}
	return self, nil
}

// member is this server as a member of the cluster. Its role is the one by which
// clients of Nomad's API know a server; the leader is who has its rpc_addr and
// port.
func (c *call) member() *api.AgentMember {
	m := &api.AgentMember{
		Name: c.Name + "." + c.Region, Status: "alive",
		ProtocolMin: 1, ProtocolMax: 5, ProtocolCur: 2, DelegateMin: 2, DelegateMax: 5, DelegateCur: 4,
		Tags: map[string]string{
			"role": "nomad", "region": c.Region, "dc": c.Datacenter, "id": c.Name, "build": c.Version,
			"bootstrap": "1", "expect": "1", "vsn": "1", "raft_vsn": "3",
		},
	}
	if host, port, err := net.SplitHostPort(c.Server.Leader()); err == nil {
		n, _ := strconv.ParseUint(port, 10, 16)
		m.Addr, m.Port = host, uint16(n)
		m.Tags["rpc_addr"], m.Tags["port"] = host, port
	}
	return m
}

func getMembers(c *call) (*api.AgentMembers, error) {
	return &api.AgentMembers{ServerName: c.Name, ServerRegion: c.Region, ServerDC: c.Datacenter, Members: []*api.AgentMember{c.member()}}, nil
}
