// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"time"
)

// AutopilotConfig configures what the leader does by itself about the cluster's servers.
// Its form is that of Nomad's API.
type AutopilotConfig struct {
	// CleanupDeadServers reports whether dead servers are removed while a quorum remains.
	CleanupDeadServers bool
	// A server is unhealthy if its last answer is older than LastContactThreshold, or if its
	// log lacks more than MaxTrailingLogs entries.
	LastContactThreshold time.Duration
	MaxTrailingLogs      uint64
	// MinQuorum is the number of voters that remain in any case; 0: no limit.
	MinQuorum uint
	// ServerStabilizationTime is the time for which a new server must be healthy before it
	// votes, unless fewer than three servers vote.
	ServerStabilizationTime time.Duration

	EnableRedundancyZones   bool // always false
	DisableUpgradeMigration bool // always false
	EnableCustomUpgrades    bool // always false

	CreateIndex uint64
	ModifyIndex uint64
}

// DefaultAutopilotConfig returns the configuration of a cluster that never set one.
func DefaultAutopilotConfig() *AutopilotConfig {
	return &AutopilotConfig{
		CleanupDeadServers: true, LastContactThreshold: 200 * time.Millisecond, MaxTrailingLogs: 250, ServerStabilizationTime: 10 * time.Second,
		CreateIndex: 1, ModifyIndex: 1,
	}
}

// Validate returns an error if Reeve cannot honour the configuration.
func (c *AutopilotConfig) Validate() error {
	const most = time.Hour
	switch {
	case c.LastContactThreshold < 50*time.Millisecond || c.LastContactThreshold > most:
		return Errorf(CodeInvalid, "LastContactThreshold is %s; it must be from 50ms to %s", c.LastContactThreshold, most)
	case c.ServerStabilizationTime < 0 || c.ServerStabilizationTime > most:
		return Errorf(CodeInvalid, "ServerStabilizationTime is %s; it must be from 0s to %s", c.ServerStabilizationTime, most)
	case c.MaxTrailingLogs == 0:
		return Errorf(CodeInvalid, "MaxTrailingLogs is 0; it must be at least 1")
	case c.MinQuorum > 99:
		return Errorf(CodeInvalid, "MinQuorum is %d; it must be at most 99", c.MinQuorum)
	case c.EnableRedundancyZones, c.DisableUpgradeMigration, c.EnableCustomUpgrades:
		return Errorf(CodeInvalid, "EnableRedundancyZones, DisableUpgradeMigration and EnableCustomUpgrades are not supported; leave them false")
	}
	return nil
}

// plainAutopilotConfig is AutopilotConfig without its methods.
type plainAutopilotConfig AutopilotConfig

// MarshalJSON writes durations as text, such as "200ms".
func (c AutopilotConfig) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		plainAutopilotConfig
		LastContactThreshold    string
		ServerStabilizationTime string
	}{plainAutopilotConfig(c), c.LastContactThreshold.String(), c.ServerStabilizationTime.String()})
}

// UnmarshalJSON reads durations as text or as nanoseconds. Absent settings keep their
// values.
func (c *AutopilotConfig) UnmarshalJSON(text []byte) error {
	in := struct {
		*plainAutopilotConfig
		LastContactThreshold    json.RawMessage
		ServerStabilizationTime json.RawMessage
	}{plainAutopilotConfig: (*plainAutopilotConfig)(c)}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	if err := readDuration(in.LastContactThreshold, "LastContactThreshold", &c.LastContactThreshold); err != nil {
		return err
	}
	return readDuration(in.ServerStabilizationTime, "ServerStabilizationTime", &c.ServerStabilizationTime)
}

// readDuration reads a duration of a setting; absent or null ones change nothing.
func readDuration(text json.RawMessage, name string, into *time.Duration) error {
	if len(text) == 0 || string(text) == "null" {
		return nil
	}
	var nanoseconds int64
	if json.Unmarshal(text, &nanoseconds) == nil {
		*into = time.Duration(nanoseconds)
		return nil
	}
	var words string
	if err := json.Unmarshal(text, &words); err != nil {
		return Errorf(CodeInvalid, "%s must be a duration such as \"10s\", not %s", name, text)
	}
	d, err := time.ParseDuration(words)
	if err != nil {
		return Errorf(CodeInvalid, "%s must be a duration such as \"10s\", not %q", name, words)
	}
	*into = d
	return nil
}

// ServerHealth is the health of a server in the leader's view.
type ServerHealth struct {
	ID          string
	Name        string
	Address     string // host:port
	SerfStatus  string // as Nomad's clients know it: alive or failed
	Version     string
	Leader      bool
	LastContact string // since its last answer: a duration
	LastTerm    uint64
	LastIndex   uint64
	Healthy     bool
	Voter       bool
	StableSince time.Time // Healthy has its value since then
}

// AutopilotHealth is the health of the cluster's servers.
type AutopilotHealth struct {
	Healthy          bool // all servers are
	FailureTolerance int  // servers that may fail in addition without an outage
	Servers          []*ServerHealth
	Leader           string // its id
	Voters           []string
}

// RaftServer is a server of the replicated log's configuration.
type RaftServer struct {
	ID           string
	Node         string // its name, or "(unknown)"
	Address      string
	Leader       bool
	Voter        bool
	RaftProtocol string
}

// RaftConfig is the configuration of the replicated log.
type RaftConfig struct {
	Index   uint64
	Servers []*RaftServer
}

// TransferResult reports a transfer of leadership.
type TransferResult struct {
	From RaftServer
	To   RaftServer
	Noop bool // the server led already
	Err  string
}
