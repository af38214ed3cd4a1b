// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

// autopilotKey is the key of the one object.
const autopilotKey = "cluster"

var autopilots = declare(noun[api.AutopilotConfig]{
	name: "autopilot", singular: "autopilot configuration", verb: "Autopilot", frame: 23,
	key:     func(*api.AutopilotConfig) string { return autopilotKey },
	stamp:   func(c *api.AutopilotConfig) (create, modify *uint64) { return &c.CreateIndex, &c.ModifyIndex },
	builtIn: []*api.AutopilotConfig{api.DefaultAutopilotConfig()},
})

// TableAutopilot holds the *api.AutopilotConfig, if it was ever set.
var TableAutopilot = autopilots.table

// Autopilot returns the configuration of what the leader does about servers.
func (c *content) Autopilot() *api.AutopilotConfig { return autopilots.find(c, autopilotKey) }

// PutAutopilot returns the command that stores the configuration. enforce is the modify index
// that the stored one must have; nil: any.
func PutAutopilot(config *api.AutopilotConfig, enforce *uint64) Command {
	return &putObject[api.AutopilotConfig]{autopilots, config, enforce}
}
