// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"cmp"
	"iter"
	"reflect"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// instanceEvents returns the events of the instances of allocations: crashes first,
// removals last. So a consumer that maintains routes never lacks a route because one
// instance replaces another.
func instanceEvents(index uint64, transitions []transition) (events []*api.Event) {
	var removed []*api.Event
	var crashed []*api.Event
	for _, t := range transitions {
		before, after := instanceOf(t.old), instanceOf(t.new)
		if t.old != nil && t.new != nil && hasCrashed(t.old, t.new) {
			crashed = append(crashed, instanceEvent(index, shownInstance(t.new), api.EventTypeInstanceCrashed))
		}
		switch {
		case before == nil && after != nil:
			events = append(events, instanceEvent(index, after, api.EventTypeInstanceCreated))
		case before != nil && after == nil:
			// The event shows the last state, with a tag that orders it last.
			before.ModificationTag.Index = index
			removed = append(removed, instanceEvent(index, before, api.EventTypeInstanceRemoved))
		case before != nil && !isSameInstance(before, after):
			events = append(events, instanceEvent(index, after, api.EventTypeInstanceChanged))
		}
	}
	return slices.Concat(crashed, events, removed)
}

func instanceEvent(index uint64, in *api.Instance, kind string) *api.Event {
	return &api.Event{
		Topic: api.TopicInstance, Type: kind, Key: in.Allocation, Namespace: in.Namespace, Index: index,
		FilterKeys: keys(in.JobID, in.Name, in.NodeID, in.Domain),
		Deleted:    kind == api.EventTypeInstanceRemoved,
		Payload:    map[string]any{api.TopicInstance: in},
	}
}

// hasCrashed reports whether an allocation crashed between two states: one of its tasks
// restarted after a crash, or the whole allocation failed.
func hasCrashed(before, after *api.Allocation) bool {
	was, is := 0, 0
	if before.Crashes != nil {
		was = before.Crashes.Total
	}
	if after.Crashes != nil {
		is = after.Crashes.Total
	}
	return is > was || is == was && before.ClientStatus != api.AllocClientFailed && after.ClientStatus == api.AllocClientFailed
}

// holdsInstance reports whether an allocation represents its instance, judged by the
// allocation alone: it may run, or it failed and has no replacement.
func holdsInstance(a *api.Allocation) bool {
	switch {
	case a.IsSuspect() && a.IsRoutable():
		return true
	case a.ClientStatus == api.AllocClientComplete:
		return false
	case a.IsClientTerminal():
		return !a.IsServerTerminal() && a.NextAllocation == ""
	}
	return true
}

// instanceOf returns the instance that an allocation holds, nil if it holds none.
func instanceOf(a *api.Allocation) *api.Instance {
	if a == nil || !holdsInstance(a) {
		return nil
	}
	return shownInstance(a)
}

// shownInstance derives an instance from its allocation alone. Only the list of instances
// also shows properties that depend on the node, the job or the time.
func shownInstance(a *api.Allocation) *api.Instance {
	in := &api.Instance{
		Namespace: a.Namespace, JobID: a.JobID, Name: api.InstanceName(a.Group, a.Index()), Group: a.Group, Index: a.Index(),
		State: api.InstanceClaimed, Presence: api.PresenceOrdinary, Canary: a.IsCanary(), Orphan: a.Orphan,
		Allocation: a.ID, NodeID: a.NodeID, NodeName: a.NodeName, JobVersion: a.JobVersion(),
		Since:           time.Unix(0, a.CreateTime),
		ModificationTag: api.ModificationTag{Epoch: a.ID, Index: a.ModifyIndex},
	}
	if a.Job != nil {
		in.Domain = a.Job.Domain
	}
	if a.Serving != nil && a.Serving.Since > 0 {
		in.Since = time.Unix(0, a.Serving.Since)
	}
	if a.IsSuspect() {
		in.Presence = api.PresenceSuspect
	}
	if c := a.Crashes; c != nil {
		in.CrashCount, in.CrashReason = c.Count, c.Reason
		if c.Next > 0 {
			in.NextAttempt = time.Unix(0, c.Next)
		}
	}
	switch {
	case a.ClientStatus == api.AllocClientFailed:
		in.State, in.Since = api.InstanceCrashed, time.Unix(0, a.ModifyTime)
	case a.ClientStatus == api.AllocClientComplete && a.Job != nil && a.Job.RunsToCompletion():
		in.State, in.Since = api.InstanceComplete, time.Unix(0, a.ModifyTime)
	case a.WasUp():
		in.State = api.InstanceRunning
		showReach(in, a)
	case !in.NextAttempt.IsZero():
		in.State = api.InstanceCrashed
	}
	return in
}

// showReach sets the addresses of a running instance and reports whether it is routable.
func showReach(in *api.Instance, a *api.Allocation) {
	in.Routable = a.TakesTraffic()
	if a.Serving != nil && !in.Routable {
		in.Message = a.Serving.Reason
	}
	for _, p := range a.PortMappings() {
		in.Ports = append(in.Ports, api.InstancePort{Label: p.Label, ContainerPort: cmp.Or(p.To, p.Value), HostPort: p.Value})
		if in.Address == "" && p.HostIP != "0.0.0.0" && p.HostIP != "::" {
			in.Address = p.HostIP
		}
	}
	if a.NetworkStatus != nil {
		in.InstanceAddress = cmp.Or(a.NetworkStatus.Address, a.NetworkStatus.AddressIPv6)
	}
}

// isSameInstance reports whether only the tag changed.
func isSameInstance(before, after *api.Instance) bool {
	same := *before
	same.ModificationTag = after.ModificationTag
	return reflect.DeepEqual(&same, after)
}

// instancesOf yields an event for each current instance.
func instancesOf(v *state.Snapshot) iter.Seq[*api.Event] {
	return func(yield func(*api.Event) bool) {
		for a := range v.Allocations() {
			if in := instanceOf(a); in != nil && !yield(instanceEvent(0, in, api.EventTypeInstanceCreated)) {
				return
			}
		}
	}
}
