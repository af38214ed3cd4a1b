// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import "github.com/reeve-run/reeve/api"

var periodicSchema = &schema[api.Periodic]{
	noun: "periodic",
	attrs: attrs[api.Periodic]{
		"enabled":          func(p *api.Periodic) any { return &p.Enabled },
		"cron":             func(p *api.Periodic) any { return &p.Spec },
		"crons":            func(p *api.Periodic) any { return &p.Specs },
		"prohibit_overlap": func(p *api.Periodic) any { return &p.ProhibitOverlap },
		"time_zone":        func(p *api.Periodic) any { return &p.TimeZone },
	},
}

var parameterizedSchema = &schema[api.Parameterized]{
	noun: "parameterized",
	oneOf: map[string][]string{
		"payload": {"optional", "required", "forbidden"},
	},
	attrs: attrs[api.Parameterized]{
		"payload":       func(p *api.Parameterized) any { return &p.Payload },
		"meta_required": func(p *api.Parameterized) any { return &p.MetaRequired },
		"meta_optional": func(p *api.Parameterized) any { return &p.MetaOptional },
	},
}

var uiSchema = &schema[api.JobUI]{
	noun: "ui",
	attrs: attrs[api.JobUI]{
		"description": func(u *api.JobUI) any { return &u.Description },
	},
	blocks: blocks[api.JobUI]{
		"link": many(uiLinkSchema, func(u *api.JobUI) *[]*api.JobUILink { return &u.Links }),
	},
}

var uiLinkSchema = &schema[api.JobUILink]{
	noun: "link",
	attrs: attrs[api.JobUILink]{
		"label": func(l *api.JobUILink) any { return &l.Label },
		"url":   func(l *api.JobUILink) any { return &l.URL },
	},
}

var multiregionSchema = &schema[api.Multiregion]{
	noun: "multiregion",
	blocks: blocks[api.Multiregion]{
		"strategy": one(multiregionStrategySchema, func(m *api.Multiregion) **api.MultiregionStrategy { return &m.Strategy }),
		"region":   many(multiregionRegionSchema, func(m *api.Multiregion) *[]*api.MultiregionRegion { return &m.Regions }),
	},
}

var multiregionStrategySchema = &schema[api.MultiregionStrategy]{
	noun: "strategy",
	attrs: attrs[api.MultiregionStrategy]{
		"max_parallel": func(s *api.MultiregionStrategy) any { return &s.MaxParallel },
		"on_failure":   func(s *api.MultiregionStrategy) any { return &s.OnFailure },
	},
}

var multiregionRegionSchema = &schema[api.MultiregionRegion]{
	noun:  "region",
	label: "name",
	name:  func(r *api.MultiregionRegion) *string { return &r.Name },
	attrs: attrs[api.MultiregionRegion]{
		"count":       func(r *api.MultiregionRegion) any { return &r.Count },
		"datacenters": func(r *api.MultiregionRegion) any { return &r.Datacenters },
		"node_pool":   func(r *api.MultiregionRegion) any { return &r.NodePool },
	},
	blocks: blocks[api.MultiregionRegion]{
		"meta": texts(func(r *api.MultiregionRegion) *map[string]string { return &r.Meta }),
	},
}
