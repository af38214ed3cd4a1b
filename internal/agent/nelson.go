// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
)

// nelsonCore is a server as the dialect of Nelson sees it.
type nelsonCore struct{ *server.Server }

// everyStatus lists the statuses of all stacks, as users see them.
var everyStatus = []string{
	api.StackPending, api.StackDeploying, api.StackWarming, api.StackReady, api.StackDeprecated, api.StackGarbage, api.StackFailed, api.StackTerminated,
}

// ListStacks returns the stacks of all namespaces.
func (c nelsonCore) ListStacks() []*api.StackStatus {
	list, _ := server.Stacks(c.Store().Snapshot(), server.StackFilter{Namespace: "*", Statuses: everyStatus})
	return list
}

// Graph returns what uses the stacks of all namespaces.
func (c nelsonCore) Graph() *api.StackGraph {
	graph, _ := server.StackGraph(c.Store().Snapshot(), "*")
	return graph
}
