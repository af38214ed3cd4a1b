// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import "github.com/reeve-run/reeve/api"

var stackSchema = &schema[api.StackSpec]{
	noun:     "stack",
	required: []string{"version"},
	attrs: attrs[api.StackSpec]{
		"version":     func(s *api.StackSpec) any { return &s.Version },
		"initial_ttl": func(s *api.StackSpec) any { return &s.InitialTTL },
		"extend_ttl":  func(s *api.StackSpec) any { return &s.ExtendTTL },
		"grace":       func(s *api.StackSpec) any { return &s.Grace },
		"idle":        func(s *api.StackSpec) any { return &s.Idle },
		"max_stacks":  func(s *api.StackSpec) any { return &s.MaxStacks },
		"policy": func(s *api.StackSpec) any {
			return func(name string) { s.Policy = &api.RetentionPolicy{Name: name} }
		},
	},
	blocks: blocks[api.StackSpec]{
		"depends":       many(dependsSchema, func(s *api.StackSpec) *[]*api.StackDependency { return &s.Depends }),
		"retain_latest": one(retainLatestSchema, func(s *api.StackSpec) **api.RetentionPolicy { return &s.Policy }),
		"shift":         one(shiftSchema, func(s *api.StackSpec) **api.ShiftSpec { return &s.Shift }),
		"warm":          one(warmSchema, func(s *api.StackSpec) **api.WarmUp { return &s.Warm }),
		"expose":        many(exposeSchema, func(s *api.StackSpec) *[]*api.StackExposure { return &s.Expose }),
	},
	finish: notePlace[api.StackSpec],
}

var dependsSchema = &schema[api.StackDependency]{
	noun:     "depends",
	label:    "unit",
	name:     func(d *api.StackDependency) *string { return &d.Unit },
	required: []string{"version"},
	attrs: attrs[api.StackDependency]{
		"version":  func(d *api.StackDependency) any { return &d.Version },
		"optional": func(d *api.StackDependency) any { return &d.Optional },
	},
	finish: notePlace[api.StackDependency],
}

var retainLatestSchema = &schema[api.RetentionPolicy]{
	noun: "retain_latest",
	attrs: attrs[api.RetentionPolicy]{
		"majors":   func(p *api.RetentionPolicy) any { return &p.Majors },
		"features": func(p *api.RetentionPolicy) any { return &p.Features },
		"patches":  func(p *api.RetentionPolicy) any { return &p.Patches },
	},
	finish: func(d *decoder, p *api.RetentionPolicy, b *block) {
		p.Name = api.RetainLatest
		notePlace(d, p, b)
	},
}

var shiftSchema = &schema[api.ShiftSpec]{
	noun: "shift",
	oneOf: map[string][]string{
		"policy":        {api.ShiftLinear, api.ShiftAtomic, api.ShiftSteps, api.ShiftNone},
		"after_failure": {api.AfterFailureReverse, api.AfterFailureHold},
	},
	attrs: attrs[api.ShiftSpec]{
		"policy":        func(s *api.ShiftSpec) any { return &s.Policy },
		"over":          func(s *api.ShiftSpec) any { return &s.Over },
		"steps":         func(s *api.ShiftSpec) any { return &s.Steps },
		"after_failure": func(s *api.ShiftSpec) any { return &s.AfterFailure },
		"min_requests":  func(s *api.ShiftSpec) any { return &s.MinRequests },
		"interval":      func(s *api.ShiftSpec) any { return &s.Interval },
		"failures":      func(s *api.ShiftSpec) any { return &s.Failures },
	},
	blocks: blocks[api.ShiftSpec]{
		"check": many(shiftCheckSchema, func(s *api.ShiftSpec) *[]*api.ShiftCheck { return &s.Checks }),
	},
	finish: notePlace[api.ShiftSpec],
}

var shiftCheckSchema = &schema[api.ShiftCheck]{
	noun:  "check",
	label: "name",
	name:  func(c *api.ShiftCheck) *string { return &c.Name },
	oneOf: map[string][]string{"metric": {api.MetricErrors, api.MetricP99}},
	attrs: attrs[api.ShiftCheck]{
		"metric":   func(c *api.ShiftCheck) any { return &c.Metric },
		"max":      func(c *api.ShiftCheck) any { return &c.Max },
		"than":     func(c *api.ShiftCheck) any { return &c.Than },
		"http":     func(c *api.ShiftCheck) any { return &c.HTTP },
		"interval": func(c *api.ShiftCheck) any { return &c.Interval },
	},
	finish: notePlace[api.ShiftCheck],
}

var exposeSchema = &schema[api.StackExposure]{
	noun:     "expose",
	required: []string{"host"},
	attrs: attrs[api.StackExposure]{
		"host":   func(e *api.StackExposure) any { return &e.Host },
		"sticky": func(e *api.StackExposure) any { return &e.Sticky },
		"preview": func(e *api.StackExposure) any {
			return func(text string) { e.Preview = previewOf(text) }
		},
	},
	finish: notePlace[api.StackExposure],
}

// previewOf returns the value of preview = true, false or "public".
func previewOf(text string) string {
	switch text {
	case "true":
		return api.PreviewTrusted
	case "false":
		return ""
	}
	return text
}

var warmSchema = &schema[api.WarmUp]{
	noun: "warm",
	blocks: blocks[api.WarmUp]{
		"http": many(warmRequestsSchema, func(w *api.WarmUp) *[]*api.WarmRequests { return &w.HTTP }),
	},
	finish: notePlace[api.WarmUp],
}

var warmRequestsSchema = &schema[api.WarmRequests]{
	noun:     "http",
	required: []string{"path", "requests", "over"},
	attrs: attrs[api.WarmRequests]{
		"path":     func(r *api.WarmRequests) any { return &r.Path },
		"requests": func(r *api.WarmRequests) any { return &r.Requests },
		"over":     func(r *api.WarmRequests) any { return &r.Over },
	},
	finish: notePlace[api.WarmRequests],
}
