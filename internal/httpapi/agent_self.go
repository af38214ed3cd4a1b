// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
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
	if c.Advertise != "" {
		self.Config["AdvertiseAddrs"] = map[string]any{"HTTP": c.Advertise, "RPC": c.Advertise}
	}
	if c.Server == nil {
		return self, nil
	}
	servers, own := c.Server.Servers(), c.Server.ServerID()
	for _, s := range servers {
		if s.ID == own {
			self.Member = *c.member(s)
		}
	}
	leader, index := c.Server.Leader(), strconv.FormatUint(c.Server.Store().Index(), 10)
	self.Stats["nomad"] = map[string]string{
		"server": "true", "leader": strconv.FormatBool(leader != ""), "leader_addr": leader, "bootstrap": "true", "known_regions": "1",
	}
	self.Stats["raft"] = map[string]string{"applied_index": index, "commit_index": index, "last_log_index": index, "num_peers": strconv.Itoa(max(len(servers)-1, 0)), "state": "Follower"}
	if c.Server.IsLeader() {
		self.Stats["raft"]["state"] = "Leader"
	}
	if stats := c.Server.Stats(); stats != nil {
		self.Stats["scheduler"] = stats
	}
	return self, nil
}
