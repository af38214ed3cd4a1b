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

// updateServing derives whether the allocation is up and routable, and reports a change
// urgently, because traffic depends on it.
func (r *Runner) updateServing() {
	r.recordHealthyTasks()
	if !r.started || !r.reportsServing() && r.serving == nil { // a former service is still judged without services
		return
	}
	for _, t := range r.tasks {
		if t.recovering {
			return // keep the earlier agent's verdict until the process is found
		}
	}
	down := r.downReason()
	warmed := r.updateWarmUp(down == "")
	old := r.serving
	if old == nil {
		old = &api.Serving{}
	}
	now := &api.Serving{Up: true, Routable: true, Since: old.Since, Services: old.Services, Warm: warmed}
	if down != "" {
		now.Up, now.Routable, now.Reason = false, false, down
	} else if why := r.unreadyReason(); why != "" {
		now.Routable, now.Reason = false, why
	}
	now.Failing = r.checkFailures()
	if now.Up && (r.registeredJob != r.alloc.Job || r.registeredCanary != r.alloc.IsCanary()) {
		r.registeredJob, r.registeredCanary = r.alloc.Job, r.alloc.IsCanary()
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

// reportsServing reports whether the servers need to know if the allocation serves: it has
// services, routes, the port of a stack's callers, or a monitor. For others, the client status is enough.
func (r *Runner) reportsServing() bool {
	if len(r.group.Services) > 0 || len(r.group.Routes) > 0 || r.hasStackPort() {
		return true
	}
	for _, t := range r.group.Tasks {
		if len(t.Services) > 0 || t.Monitor != nil {
			return true
		}
	}
	return false
}

// hasStackPort reports whether callers of a stack reach the group.
func (r *Runner) hasStackPort() bool {
	if j := r.alloc.Job; j != nil && j.Stack != nil {
		group, _, ok := j.StackPort()
		return ok && group == r.group.Name
	}
	return false
}

// downReason says why the allocation is not up; "" if it is.
func (r *Runner) downReason() string {
	for _, t := range r.tasks {
		if t.request != nil && t.request.Counts && !t.isAlone() {
			return fmt.Sprintf("task %q is restarted: %s", t.name, t.request.Words)
		}
		if missing := t.unmetCondition(); missing != "" {
			return fmt.Sprintf("task %q %s", t.name, missing)
		}
	}
	return r.failingCheck(func(c *api.Check) bool { return c.Kind == api.CheckKindLiveness })
}

// unreadyReason says why the allocation must receive no traffic although it is up; "" if it
// is routable.
func (r *Runner) unreadyReason() string {
	switch {
	case r.delayed:
		return "it is about to stop (shutdown_delay)"
	case r.ending != nil:
		return "it is ending: " + r.ending.why.message
	}
	if why := r.failingCheck(func(c *api.Check) bool { return c.Kind != api.CheckKindLiveness }); why != "" {
		return why
	}
	if !r.isWarmed() {
		return r.warm.describe()
	}
	return ""
}

// failingCheck describes a check of a kind that does not pass; "" if all pass.
func (r *Runner) failingCheck(of func(*api.Check) bool) string {
	if !r.hasChecks() || r.delayed || r.ending != nil { // checks have stopped
		return ""
	}
	for _, p := range r.probes() {
		if !of(p.check) || !r.isExpected(p) {
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

// checkFailures returns the failing checks with their reasons.
func (r *Runner) checkFailures() (all []*api.CheckFailure) {
	fails := func(status string) bool { return status == api.CheckStatusFailure }
	if r.delayed || r.ending != nil || !slices.ContainsFunc(slices.Collect(maps.Values(r.checks)), fails) {
		return nil
	}
	for _, p := range r.probes() {
		if fails(r.checks[p.id]) && r.isExpected(p) {
			if f := r.host.Checks.Failure(r.id, p.id); f != nil {
				all = append(all, f)
			}
		}
	}
	return all
}

// registrations returns the allocation's services with all variables replaced.
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
			reg.Address, reg.Port = r.advertisedAddress(s, spec)
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

// advertisedAddress returns where clients reach a service: at the allocation's port with the
// service's label, or at a port number, on the service's address or else the node's.
func (r *Runner) advertisedAddress(s *api.Service, spec *api.Task) (address string, port int) {
	if address, port, ok := r.insideAddress(s.AddressMode, s.PortLabel, spec); ok && s.Address == "" {
		return address, port
	}
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

// nodeAddress returns the node's own address; loopback if it has no other.
func (r *Runner) nodeAddress() string {
	if n := r.host.Node(); n != nil && n.Attributes["unique.network.ip-address"] != "" {
		return n.Attributes["unique.network.ip-address"]
	}
	return "127.0.0.1"
}
