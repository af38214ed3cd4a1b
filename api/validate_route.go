// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// validateRoutes checks the routes of all groups. Within a job, too, two groups must not claim
// one port of the router for different protocols.
func (j *Job) validateRoutes(c *complaints) {
	seen := map[string]string{}
	for _, g := range j.Groups {
		if g == nil {
			continue
		}
		ports := g.validatePorts(&complaints{}, "")
		for i, r := range g.Routes {
			at := fmt.Sprintf("group %q, route %d", g.Name, i+1)
			if r == nil {
				c.add("%s is null", at)
				continue
			}
			r.validate(c, at, ports)
			claim := r.Claim()
			if before, taken := seen[claim]; taken && before == g.Name {
				c.add("%s: %s is routed twice by the group", at, claim)
			}
			seen[claim] = g.Name
		}
	}
}

func (r *Route) validate(c *complaints, at string, ports map[string]bool) {
	switch {
	case r.Port == "":
		c.add("%s: port is missing: the label of the group's port that traffic goes to", at)
	case !ports[r.Port]:
		c.add("%s: port %q is not defined; %s", at, r.Port, knownPorts(ports))
	}
	if r.Weight != nil && (*r.Weight < 0 || *r.Weight > maxRouteWeight) {
		c.add("%s: weight %d: must be 0 to %d", at, *r.Weight, maxRouteWeight)
	}
	if r.Timeout < 0 {
		c.add("%s: timeout %s: must not be negative", at, r.Timeout)
	}
	r.validateTLS(c, at)
	switch r.Protocol {
	case RouteHTTP, RouteGRPC:
		r.validateHTTP(c, at)
	case RouteTCP:
		if r.IsPassthrough() {
			r.validatePassthrough(c, at)
			return
		}
		r.validateTCP(c, at)
	default:
		c.add("%s: protocol %q: must be %s, %s or %s", at, r.Protocol, RouteHTTP, RouteGRPC, RouteTCP)
	}
}

const maxRouteWeight = 1000

func (r *Route) validateTLS(c *complaints, at string) {
	if r.TLS == nil {
		return
	}
	switch m := r.TLS.Mode; {
	case m != TLSTerminate && m != TLSPassthrough:
		c.add("%s: tls: mode %q: must be %s or %s", at, m, TLSTerminate, TLSPassthrough)
	case m == TLSPassthrough && r.Protocol != RouteTCP:
		c.add("%s: tls: mode %q needs protocol %q: the router does not see requests within the connection", at, m, RouteTCP)
	case m == TLSTerminate && r.Protocol == RouteTCP:
		c.add("%s: tls: protocol %q needs mode %q: the router decrypts only %s and %s", at, RouteTCP, TLSPassthrough, RouteHTTP, RouteGRPC)
	}
	switch {
	case r.TLS.Redirect && r.Protocol == RouteGRPC:
		c.add("%s: tls: redirect is not for protocol %q, whose clients do not follow redirects", at, RouteGRPC)
	case r.TLS.Redirect && r.Host == "":
		c.add("%s: tls: redirect needs a host: clients must not choose where they are sent", at)
	}
}

// validatePassthrough checks a route that passes TLS connections on by the name that clients
// ask for.
func (r *Route) validatePassthrough(c *complaints, at string) {
	if name := strings.TrimPrefix(r.Host, "*."); !isHostName(name) {
		c.add("%s: host %q: tls mode %q needs a host name, or \"*.\" and a host name, without a port", at, r.Host, TLSPassthrough)
	}
	if r.Listen != 0 || r.Path != "" || r.Sticky != "" || r.StripPath {
		c.add("%s: listen, path, sticky and strip_path are not for tls mode %q", at, TLSPassthrough)
	}
}

func (r *Route) validateHTTP(c *complaints, at string) {
	if r.Listen != 0 {
		c.add("%s: listen is for protocol %q only: the others share the router's ports", at, RouteTCP)
	}
	if name := strings.TrimPrefix(r.Host, "*."); r.Host != "" && !isHostName(name) {
		c.add("%s: host %q: must be a host name, or \"*.\" and a host name, without a port", at, r.Host)
	}
	if !strings.HasPrefix(r.Path, "/") || strings.ContainsAny(r.Path, "?# ") {
		c.add("%s: path %q: must begin with / and have neither ?, # nor spaces", at, r.Path)
	}
	if r.Sticky != "" && !isToken(r.Sticky) {
		c.add("%s: sticky %q is not a cookie's name: use letters, digits, - and _", at, r.Sticky)
	}
}

func (r *Route) validateTCP(c *complaints, at string) {
	if r.Listen < 1 || r.Listen > 65535 {
		c.add("%s: listen %d: a %s route needs a port of the router, 1 to 65535", at, r.Listen, RouteTCP)
	}
	if r.Host != "" || r.Path != "" || r.Sticky != "" || r.StripPath {
		c.add("%s: host, path, strip_path and sticky are not for protocol %q", at, RouteTCP)
	}
}

func isHostName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.ContainsFunc(label, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' }) {
			return false
		}
	}
	return true
}

func (g *Group) validateMetricTags(c *complaints, at string) {
	for _, name := range slices.Sorted(maps.Keys(g.MetricTags)) {
		switch t := g.MetricTags[name]; {
		case t == nil || (t.Static == "") == (t.Dynamic == ""):
			c.add("%s, metric_tag %q: must have static or dynamic, and not both", at, name)
		case t.Dynamic != "" && t.Dynamic != MetricTagIndex && t.Dynamic != MetricTagInstanceID:
			c.add("%s, metric_tag %q: dynamic %q: must be %s or %s", at, name, t.Dynamic, MetricTagIndex, MetricTagInstanceID)
		}
	}
}

func (r *Route) canonicalize() {
	if r.TLS != nil {
		setDefault(&r.TLS.Mode, TLSTerminate)
		if r.IsPassthrough() {
			setDefault(&r.Protocol, RouteTCP)
		}
	}
	setDefault(&r.Protocol, RouteHTTP)
	setPointer(&r.Weight, 1)
	r.Host = strings.ToLower(strings.TrimSuffix(r.Host, "."))
	if r.Protocol != RouteTCP {
		setDefault(&r.Path, "/")
	}
}
