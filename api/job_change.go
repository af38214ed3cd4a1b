// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"maps"
	"slices"
)

// A JobChange holds changes of a job that restart nothing. Unset fields stay unchanged. A
// list or map that is set replaces the whole previous one.
type JobChange struct {
	JobModifyIndex uint64 `json:",omitempty"` // reject unless it is the stored job's; 0: any
	Annotation     *string
	Groups         map[string]*GroupChange `json:",omitempty"` // by name
}

// A GroupChange holds changes of a group that apply in place.
type GroupChange struct {
	Count      *int
	Routes     *[]*Route
	MetricTags *map[string]*MetricTag
	Services   map[string]*ServiceChange `json:",omitempty"` // by name, of the group and its tasks
}

// A ServiceChange holds changes of a service that apply in place.
type ServiceChange struct {
	Tags         *[]string
	Meta         *map[string]string
	Checks       *[]*Check
	CheckRestart *CheckRestart
}

// ChangeJobResponse is the result of a JobChange. If the change had no effect, nothing was
// written, and EvalID is empty.
type ChangeJobResponse struct {
	Changed        bool
	Version        uint64
	JobModifyIndex uint64
	EvalID         string `json:",omitempty"`
	Warnings       string `json:",omitempty"`
	Index          uint64
}

// Apply returns the changed job, or an error that lists every unknown group and service.
// It does not modify j.
func (c *JobChange) Apply(j *Job) (*Job, error) {
	var wrong complaints
	j = j.Copy()
	if c.Annotation != nil {
		j.Annotation = *c.Annotation
	}
	for _, name := range slices.Sorted(maps.Keys(c.Groups)) {
		g := j.Group(name)
		if g == nil {
			wrong.add("Groups: job %q has no group %q; it has %s", j.ID, name, quoted(namesOf(j.Groups, func(g *Group) string { return g.Name })))
			continue
		}
		if change := c.Groups[name]; change != nil {
			change.apply(g, &wrong)
		}
	}
	return j, wrong.err("the change does not fit the job")
}

func (c *GroupChange) apply(g *Group, wrong *complaints) {
	if c.Count != nil {
		count := *c.Count
		g.Count = &count
	}
	if c.Routes != nil {
		g.Routes = slices.Clone(*c.Routes)
	}
	if c.MetricTags != nil {
		g.MetricTags = maps.Clone(*c.MetricTags)
	}
	services := slices.Clone(g.Services)
	for _, t := range g.Tasks {
		services = append(services, t.Services...)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Services)) {
		found := false
		for _, s := range services {
			if s.Name == name {
				found = true
				c.Services[name].apply(s)
			}
		}
		if !found {
			wrong.add("Groups[%s].Services: the group has no service %q; it has %s", g.Name, name, quoted(namesOf(services, func(s *Service) string { return s.Name })))
		}
	}
}

func (c *ServiceChange) apply(s *Service) {
	switch {
	case c == nil:
		return
	case c.CheckRestart != nil:
		again := *c.CheckRestart
		s.CheckRestart = &again
	}
	if c.Tags != nil {
		s.Tags = slices.Clone(*c.Tags)
	}
	if c.Meta != nil {
		s.Meta = maps.Clone(*c.Meta)
	}
	if c.Checks != nil {
		s.Checks = slices.Clone(*c.Checks)
	}
}
