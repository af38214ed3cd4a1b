// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
)

func getLeader(c *call) (string, error) { return c.Server.Leader(), nil }

func getRegions(c *call) ([]string, error) { return []string{c.Region}, nil }

func collectGarbage(c *call, _ *none) (none, uint64, error) {
	return none{}, 0, c.Server.CollectGarbage(c.r.Context())
}

// getRouter answers with what this process's router says of itself.
func getRouter(c *call) (*api.RouterStatus, error) {
	if c.Router == nil {
		return nil, api.Errorf(api.CodeNotFound, "this agent has no router: start it with -router, or with enabled = true in router { }")
	}
	return c.Router(), nil
}

// getHealth answers 500 when a part that should work does not.
func getHealth(c *call) error {
	health := api.AgentHealth{}
	status := http.StatusOK
	kind := c.query.Get("type")
	if c.Server != nil && kind != "client" {
		health.Server = serverHealth(c.Server)
		health.Server.Warn(c.Server.LastSnapshot().Failure)
		if !health.Server.Ok {
			status = http.StatusInternalServerError
		}
	}
	if c.Node != nil && kind != "server" {
		health.Client = &api.AgentPartHealth{Ok: c.NodeID() != "", Message: "ok"}
		if !health.Client.Ok {
			health.Client.Message, status = "the node has no id yet", http.StatusInternalServerError
		}
	}
	if c.Warning != nil {
		health.Server.Warn(c.Warning())
		health.Client.Warn(c.Warning())
	}
	return c.writeJSON(status, health)
}

// serverHealth is ok as long as changes can be made, and says what is wrong even
// so.
func serverHealth(s *server.Server) *api.AgentPartHealth {
	why, writable := s.Degraded()
	switch {
	case why != "":
		return &api.AgentPartHealth{Ok: writable, Message: "degraded: " + why}
	case s.Leader() == "":
		return &api.AgentPartHealth{Message: "no leader is known: reads are answered, changes are refused"}
	}
	return &api.AgentPartHealth{Ok: true, Message: "ok"}
}

func getOpenAPI(c *call) error {
	c.w.Header().Set("Content-Type", "application/json")
	c.writeBody(http.StatusOK, c.openapi())
	return nil
}
