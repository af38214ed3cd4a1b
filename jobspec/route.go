// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import "github.com/reeve-run/reeve/api"

var routeSchema = &schema[api.Route]{
	noun:     "route",
	required: []string{"port"},
	oneOf:    map[string][]string{"protocol": {api.RouteHTTP, api.RouteGRPC, api.RouteTCP}},
	attrs: attrs[api.Route]{
		"protocol":   func(r *api.Route) any { return &r.Protocol },
		"host":       func(r *api.Route) any { return &r.Host },
		"path":       func(r *api.Route) any { return &r.Path },
		"listen":     func(r *api.Route) any { return &r.Listen },
		"port":       func(r *api.Route) any { return &r.Port },
		"weight":     func(r *api.Route) any { return &r.Weight },
		"shared":     func(r *api.Route) any { return &r.Shared },
		"sticky":     func(r *api.Route) any { return &r.Sticky },
		"strip_path": func(r *api.Route) any { return &r.StripPath },
		"timeout":    func(r *api.Route) any { return &r.Timeout },
	},
	blocks: blocks[api.Route]{
		"tls": one(routeTLSSchema, func(r *api.Route) **api.RouteTLS { return &r.TLS }),
	},
}

var routeTLSSchema = &schema[api.RouteTLS]{
	noun:  "tls",
	oneOf: map[string][]string{"mode": {api.TLSTerminate, api.TLSPassthrough}},
	attrs: attrs[api.RouteTLS]{
		"mode":     func(t *api.RouteTLS) any { return &t.Mode },
		"redirect": func(t *api.RouteTLS) any { return &t.Redirect },
	},
}

// A namedTag is a metric tag with its name, the block's label.
type namedTag struct {
	name string
	api.MetricTag
}

var metricTagSchema = &schema[namedTag]{
	noun:  "metric_tag",
	label: "name",
	name:  func(t *namedTag) *string { return &t.name },
	oneOf: map[string][]string{"dynamic": {api.MetricTagIndex, api.MetricTagInstanceID}},
	attrs: attrs[namedTag]{
		"static":  func(t *namedTag) any { return &t.Static },
		"dynamic": func(t *namedTag) any { return &t.Dynamic },
	},
}

// readMetricTag reads a tag and stores it by name.
func readMetricTag(d *decoder, g *groupText, b *block) {
	var t namedTag
	read(d, metricTagSchema, b, &t)
	if _, dup := g.MetricTags[t.name]; dup {
		d.addAt(b.labelAt[0], "there is already a metric_tag named %q here", t.name)
		return
	}
	if g.MetricTags == nil {
		g.MetricTags = map[string]*api.MetricTag{}
	}
	g.MetricTags[t.name] = &t.MetricTag
}
