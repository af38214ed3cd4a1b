// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"net"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// sayRouter prints the router's address.
func (v *devView) sayRouter(ctx context.Context) {
	s, err := v.cl.Status().Router(ctx)
	if err != nil {
		return // no router
	}
	v.router = s.HTTP
	v.out.Say("The router listens at %s.", v.style.Bold("http://"+s.HTTP))
}

// sayRoutes lists the routes of the jobs.
func (v *devView) sayRoutes() {
	if v.router == "" {
		return
	}
	for _, job := range v.jobs {
		for _, g := range job.Groups {
			for _, r := range g.Routes {
				v.out.Say("  %s routes to %s", v.style.Cyan(routeURL(r, v.router)), job.ID+"."+g.Name)
			}
		}
	}
}

// routeURL returns the address of a route through a router.
func routeURL(r *api.Route, router string) string {
	ip, port, err := net.SplitHostPort(router)
	if err != nil {
		return router
	}
	if r.IsPassthrough() {
		return "tls " + r.Host
	}
	if r.Protocol == api.RouteTCP {
		return "tcp " + net.JoinHostPort(ip, strconv.Itoa(r.Listen))
	}
	host := ip
	if r.Host != "" {
		host = strings.Replace(r.Host, "*", "anything", 1)
	}
	scheme := "http://"
	if r.Protocol == api.RouteGRPC {
		scheme = "grpc "
	}
	return scheme + net.JoinHostPort(host, port) + r.Path
}
