// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

// An oracle says what uses a stack, by plain searches over all objects. It shares no code with the index.
type oracle struct{ lifecycle.Input }

func (o oracle) rules(namespace, unit string) (found []*api.Unit) {
	for _, scope := range []string{namespace, api.AnyNamespace} {
		for _, u := range o.Units {
			if u.Namespace == scope && u.Name == unit {
				found = append(found, u)
			}
		}
	}
	return found
}

func (o oracle) isDeprecated(s *api.Stack) bool {
	return slices.ContainsFunc(o.rules(s.Namespace, s.Unit), func(u *api.Unit) bool { return u.IsDeprecated(s.Version.Feature()) })
}

// ready lists the ready stacks of a major version in a namespace, oldest version first.
func (o oracle) ready(namespace, unit string, major uint32) (list []*api.Stack) {
	for _, s := range o.Stacks {
		if s.Namespace == namespace && s.Unit == unit && s.Version.Major == major && s.Status == api.StackReady {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *api.Stack) int {
		if c := a.Version.Compare(b.Version); c != 0 {
			return c
		}
		return a.DeployedAt.Compare(b.DeployedAt)
	})
	return list
}

// shift returns the ends of the running shift of a major version, if both are ready.
func (o oracle) shift(ready []*api.Stack) (from, to *api.Stack, share float64) {
	for _, shift := range o.Shifts {
		for _, s := range ready {
			if shift.IsActive() && s.Namespace == shift.Namespace && s.Name == shift.From {
				from = s
			}
			if shift.IsActive() && s.Namespace == shift.Namespace && s.Name == shift.To {
				to = s
			}
		}
		if from != nil && to != nil {
			return from, to, shift.Share
		}
		from, to = nil, nil
	}
	return nil, nil, 0
}

// target returns the stack that receives all traffic of a major version while no shift runs.
func (o oracle) target(ready []*api.Stack) *api.Stack {
	first := ready[0]
	for _, u := range o.rules(first.Namespace, first.Unit) {
		for _, s := range ready {
			if u.Namespace != api.AnyNamespace && u.Targets[first.Version.Major] == s.Name && s.Shape == api.ShapeService {
				return s
			}
		}
	}
	if from, _, _ := o.shift(ready); from != nil {
		return from
	}
	for _, s := range slices.Backward(ready) {
		if !o.isDeprecated(s) {
			return s
		}
	}
	return ready[len(ready)-1]
}

// serving lists the stacks that serve a dependency of a caller in a namespace.
func (o oracle) serving(namespace, unit string, want api.FeatureVersion) []*api.Stack {
	parts := strings.Split(namespace, "/")
	for ; len(parts) > 0; parts = parts[:len(parts)-1] {
		ready := o.ready(strings.Join(parts, "/"), unit, want.Major)
		if len(ready) == 0 {
			continue
		}
		from, to, _ := o.shift(ready)
		if from != nil && from.Version.Minor >= want.Minor && to.Version.Minor >= want.Minor {
			return []*api.Stack{from, to}
		}
		if target := o.target(ready); target.Version.Minor >= want.Minor {
			return []*api.Stack{target}
		}
		for _, s := range slices.Backward(ready) {
			if s.Version.Minor >= want.Minor && !o.isDeprecated(s) {
				return []*api.Stack{s}
			}
		}
		return nil
	}
	return nil
}

// user names something that uses a ready stack at a time, or "".
func (o oracle) user(s *api.Stack, now time.Time) string {
	for _, caller := range o.Stacks {
		if caller == s || caller.Status == api.StackGarbage || caller.Status == api.StackFailed {
			continue
		}
		for _, d := range caller.Spec.Depends {
			if slices.Contains(o.serving(caller.Namespace, d.Unit, d.Wants()), s) {
				return "caller " + caller.Namespace + ":" + caller.Name
			}
		}
	}
	for _, shift := range o.Shifts {
		if shift.IsActive() && shift.Namespace == s.Namespace && (shift.From == s.Name || shift.To == s.Name) {
			return "a running shift"
		}
	}
	seen := make(map[string]bool) // a tag of the namespace hides that of all namespaces
	for _, u := range o.rules(s.Namespace, s.Unit) {
		for tag, version := range u.Tags {
			if version == s.Version && !seen[tag] {
				return "tag " + tag
			}
			seen[tag] = true
		}
	}
	for _, use := range o.Uses {
		if use.Stack == s.Key() && now.Sub(use.Last) < time.Hour {
			return "requests of " + use.Caller
		}
	}
	return o.host(s)
}

// host returns an exposed host of which a stack receives traffic, or "".
func (o oracle) host(s *api.Stack) string {
	for _, e := range s.Spec.Expose {
		for major := range s.Version.Major + 1 {
			ready := o.ready(s.Namespace, s.Unit, major)
			if len(ready) == 0 {
				continue
			}
			receiving := []*api.Stack{o.target(ready)}
			if from, to, share := o.shift(ready); from != nil {
				if receiving = nil; share < 1 {
					receiving = append(receiving, from)
				}
				if share > 0 {
					receiving = append(receiving, to)
				}
			}
			exposes := func(r *api.Stack) bool {
				return slices.ContainsFunc(r.Spec.Expose, func(other *api.StackExposure) bool { return other.Host == e.Host })
			}
			if major < s.Version.Major && slices.ContainsFunc(receiving, exposes) {
				break // an older major version has the host
			}
			if major == s.Version.Major && slices.Contains(receiving, s) {
				return e.Host
			}
		}
	}
	return ""
}
