// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/taskenv"
)

// serve derives whether the allocation serves, and tells the servers at once
// when that has changed: traffic follows it.
func (r *Runner) serve() {
	r.recordHealthyTasks()
	if !r.begun || !r.isServing() && r.serving == nil { // what served once goes on to be judged without services
		return
	}
	for _, t := range r.tasks {
		if t.finding {
			return // what an earlier agent knew holds until the process is found
		}
	}
	old := r.serving
	if old == nil {
		old = &api.Serving{}
	}
	now := &api.Serving{Up: true, Routable: true, Since: old.Since, Services: old.Services}
	if why := r.isDown(); why != "" {
		now.Up, now.Routable, now.Reason = false, false, why
	} else if why := r.isUnready(); why != "" {
		now.Routable, now.Reason = false, why
	}
	now.Failing = r.failures()
	if now.Up && (r.offered != r.alloc.Job || r.canary != r.alloc.IsCanary()) {
		r.offered, r.canary = r.alloc.Job, r.alloc.IsCanary()
		now.Services = r.registrations()
	}
	if r.serving != nil && reflect.DeepEqual(now, r.serving) {
		return
	}
	flips := r.serving == nil || now.Up != old.Up || now.Routable != old.Routable
	if flips {
		now.Since = max(time.Now().UnixNano(), old.Since+1)
	}
	r.serving = now
	r.markModified()
	r.host.Changed(r, flips || len(now.Services) > 0)
	r.save()
}

// isServing reports whether anybody asks if the allocation serves: it has
// services or routes, or is monitored. Of all others it is enough to know that
// they run.
func (r *Runner) isServing() bool {
	if len(r.group.Services) > 0 || len(r.group.Routes) > 0 {
		return true
	}
	for _, t := range r.group.Tasks {
		if len(t.Services) > 0 || t.Monitor != nil {
			return true
		}
	}
	return false
}

// isDown says why the allocation is not up; "" if it is.
func (r *Runner) isDown() string {
	for _, t := range r.tasks {
		if t.again != nil && t.again.Counts && !t.isAlone() {
			return fmt.Sprintf("task %q is restarted: %s", t.name, t.again.Words)
		}
		if missing := t.unmetCondition(); missing != "" {
			return fmt.Sprintf("task %q %s", t.name, missing)
		}
	}
	return r.failing(func(c *api.Check) bool { return c.Kind == api.CheckKindLiveness })
}

// isUnready says why no traffic is to come although the allocation is up; "" if
// it is.
func (r *Runner) isUnready() string {
	switch {
	case r.delayed:
		return "it is about to stop (shutdown_delay)"
	case r.ending != nil:
		return "it is ending: " + r.ending.why.words
	}
	return r.failing(func(c *api.Check) bool { return c.Kind != api.CheckKindLiveness })
}

// failing names a check of a kind that does not pass; "" if all do.
func (r *Runner) failing(of func(*api.Check) bool) string {
	if !r.hasChecks() || r.delayed || r.ending != nil { // then nothing is asked any more
		return ""
	}
	for _, p := range r.probes() {
		if !of(p.check) || !r.isAsked(p) {
			continue
		}
		switch r.checks[p.id] {
		case api.CheckStatusSuccess:
		case api.CheckStatusFailure:
			return p.String() + " fails"
		default:
			return p.String() + " has not passed yet"
		}
	}
	return ""
}

// failures lists the checks that fail, and why.
func (r *Runner) failures() (all []*api.CheckFailure) {
	fails := func(status string) bool { return status == api.CheckStatusFailure }
	if r.delayed || r.ending != nil || !slices.ContainsFunc(slices.Collect(maps.Values(r.checks)), fails) {
		return nil
	}
	for _, p := range r.probes() {
		if fails(r.checks[p.id]) && r.isAsked(p) {
			if f := r.host.Checks.Failure(r.id, p.id); f != nil {
				all = append(all, f)
			}
		}
	}
	return all
}

// registrations lists what the allocation offers, with everything replaced that
// the job leaves to its instances.
func (r *Runner) registrations() []*api.ServiceRegistration {
	var all []*api.ServiceRegistration
	node := r.host.Node()
	add := func(services []*api.Service, spec *api.Task) {
		if len(services) == 0 {
			return
		}
		env := r.host.env(r.alloc, r.group, spec, driver.Dir{})
		for _, s := range services {
			s := env.ReplaceService(s)
			reg := &api.ServiceRegistration{
				ServiceName: s.Name, Namespace: r.alloc.Namespace, JobID: r.alloc.JobID, AllocID: r.id,
				NodeID: r.alloc.NodeID, Tags: s.Tags, Meta: s.Meta, Instance: r.alloc.Index(),
			}
			if node != nil {
				reg.Datacenter = node.Datacenter
			}
			if r.alloc.IsCanary() {
				if len(s.CanaryTags) > 0 {
					reg.Tags = s.CanaryTags
				}
				if len(s.CanaryMeta) > 0 {
					reg.Meta = s.CanaryMeta
				}
			}
			if reg.Tags == nil {
				reg.Tags = []string{}
			}
			if s.Weights != nil {
				reg.Weight = s.Weights.Passing
			}
			owner := "group-" + r.group.Name
			if spec != nil {
				owner = spec.Name
			}
			reg.Address, reg.Port = r.advertised(s, spec)
			reg.ID = "_reeve-" + r.id + "-" + owner + "-" + s.Name + "-" + s.PortLabel
			all = append(all, reg)
		}
	}
	add(r.group.Services, nil)
	for _, t := range r.group.Tasks {
		add(t.Services, t)
	}
	return all
}

// advertised is where others reach a service: the port of the allocation that
// it names, or a port number, at the address given or else the node's.
func (r *Runner) advertised(s *api.Service, spec *api.Task) (address string, port int) {
	port, _ = strconv.Atoi(s.PortLabel)
	for _, p := range taskenv.Ports(r.alloc, spec) {
		if p.Label == s.PortLabel {
			address, port = p.HostIP, p.Value
		}
	}
	if s.Address != "" {
		address = s.Address
	}
	if address == "" || address == "0.0.0.0" {
		address = r.nodeAddress()
	}
	return address, port
}

// nodeAddress is the node's own address; loopback if it has no other.
func (r *Runner) nodeAddress() string {
	if n := r.host.Node(); n != nil && n.Attributes["unique.network.ip-address"] != "" {
		return n.Attributes["unique.network.ip-address"]
	}
	return "127.0.0.1"
}
