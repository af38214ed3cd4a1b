// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"time"

	"github.com/reeve-run/reeve/internal/metrics"
)

// newMetrics returns the series of this process.
func (a *Agent) newMetrics() *metrics.Registry {
	sources := metrics.OfServer(a.server, a.config.Name, a.config.Version)
	sources.Logger = a.log
	if a.node != nil {
		sources.Node = a.nodeFigures
	}
	if a.router != nil {
		sources.Router = a.routerFigures
	}
	if a.audit != nil {
		sources.Audit = func() (written, dropped uint64) { f := a.audit.Figures(); return f.Written, f.Dropped }
		sources.AuditSinks = a.sinkStatus
	}
	if a.trust != nil {
		sources.CertificateExpiry = a.trust.Expires
		sources.CAExpiry = func() time.Time { return a.trust.Roots().Expires() }
	}
	return metrics.New(sources, metrics.DefaultLimits)
}

// nodeFigures converts the measurements of the node.
func (a *Agent) nodeFigures() *metrics.Node {
	f := a.node.Figures()
	if f == nil {
		return nil
	}
	out := &metrics.Node{Node: f.Node, Allocations: f.Allocations, Allocated: f.Allocated, Checks: f.Checks, Host: f.Host, Tasks: make([]metrics.Task, len(f.Tasks))}
	for i, t := range f.Tasks {
		out.Tasks[i] = metrics.Task(t)
	}
	return out
}

// routerFigures converts the measurements of the router.
func (a *Agent) routerFigures() *metrics.Router {
	f := a.router.Figures()
	out := &metrics.Router{
		Connected: f.Connected, Connections: f.Connections, Problems: f.Problems,
		Requests: f.Requests, Refused: f.Refused, NoRoute: f.NoRoute, TLS: f.TLS, Unusable: f.Unusable, Expires: f.Expires, Stacks: make([]metrics.Stack, len(f.Stacks)),
	}
	for i, s := range f.Stacks {
		out.Stacks[i] = metrics.Stack(s)
	}
	return out
}
