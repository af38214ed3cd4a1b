// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// Troubles returns one trouble of each kind that is rendered in its own way.
func Troubles() []*api.Trouble {
	return []*api.Trouble{
		{
			Kind: api.TroubleExited, Message: `task "http": exited with code 1 after 108ms`, Instance: "server-0", Instances: 3, Group: "server",
			Allocation: AllocID, Task: "http", ExitCode: 1, Count: 4, At: Now.Add(-5 * time.Second), NextAttempt: Now.Add(25 * time.Second), Log: api.LogStderr,
		},
		{
			Kind: api.TroubleCheckFailed, Message: `check "health" of service "web" fails: HTTP 404`, Instance: "server-1", Instances: 2, Group: "server",
			Allocation: AllocID, Task: "http", Check: "health", Service: "web", At: Now.Add(-2 * time.Minute), Log: api.LogStderr,
		},
		{Kind: api.TroubleNoRoom, Message: "no node can take it: 2 nodes full (memory)", Instance: "cache-0", Instances: 1, Group: "cache", At: Now},
		{Kind: api.TroubleNodeSilent, Message: "its node rack-9 is out of reach", Instance: "cache-1", Instances: 1, NodeID: NodeID, Allocation: AllocID},
		{Kind: api.TroubleStart, Message: `task "http": command not found: /bin/nothing`, Instance: "server-9", Instances: 1, Allocation: AllocID, Task: "http", Final: true},
	}
}
