// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"net"
	"net/netip"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router"
	"github.com/reeve-run/reeve/internal/socket"
)

// openRouter listens on the router's address. A development agent uses another one if the
// default is taken.
func (a *Agent) openRouter() (err error) {
	config := a.config.Router.Config
	config.Logger, config.Zone = a.log, a.config.DNS.Zone
	if config.Source, err = a.catalog(); err != nil {
		return err
	}
	config.Report, config.Caller, config.Variables = a.reportTraffic, a.callerOf, a.openVariables
	wanted := config.HTTPAddr
	if wanted == "" {
		config.HTTPAddr = DefaultRouterAddr
	}
	a.router, err = router.New(config)
	if err != nil && wanted == "" && a.config.Dev {
		host, _, _ := net.SplitHostPort(DefaultRouterAddr)
		config.HTTPAddr = net.JoinHostPort(host, "0")
		a.router, err = router.New(config)
	}
	return err
}

// catalog returns the catalog's stream, which the agent reads from the API like all data of
// the cluster.
func (a *Agent) catalog() (router.Source, error) {
	if a.client == nil {
		if err := a.connect(); err != nil {
			return nil, err
		}
	}
	cl := a.client
	return func(ctx context.Context, apply func(*api.CatalogUpdate) error, broke func(error)) error {
		return cl.Catalog().StreamReporting(ctx, apply, broke)
	}, nil
}

// RouterAddr returns the router's address for HTTP, as host:port; "" without a router.
func (a *Agent) RouterAddr() string {
	if a.router == nil {
		return ""
	}
	return a.router.Addr()
}

// callerOf returns the id of the allocation of the agent's node whose task holds the remote end
// of a connection to the router; "" if it is not known.
func (a *Agent) callerOf(local, remote netip.AddrPort) string {
	if a.node == nil {
		return ""
	}
	s, err := socket.Find(local, remote)
	if err != nil {
		return "" // on another machine, or closed
	}
	return a.node.CallerIn(s.Group)
}

// reportTraffic sends the figures of the agent's router to the servers, for its node if it has
// one.
func (a *Agent) reportTraffic(ctx context.Context, r *api.TrafficReport) (string, error) {
	if a.node != nil {
		r.Node = a.node.ID()
	}
	res, err := a.client.Nodes().ReportTraffic(ctx, r)
	if err != nil {
		return "", err
	}
	return res.Term, nil
}
