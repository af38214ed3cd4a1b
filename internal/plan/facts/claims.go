// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/opt"
)

// Claims are several allocations of one instance that are all wanted. That comes
// of a node that was out of reach: its instance was started elsewhere, and the
// original is still there, or has come back. Or its node is drained: then the
// original goes on until the replacement serves. This file decides who goes on.
//
//  1. While the original's node is silent, its replacement holds the instance, and
//     the original stays as it is, until it is lost: at the time that the
//     disconnect block gives, or else when the replacement is up. If the
//     replacement fails, it holds the instance all the same: how it is tried again
//     says the reschedule block.
//  2. When the node is back, it has to say how its allocation fares. One that
//     failed meanwhile is stopped; of a job that runs to completion, one that
//     finished has done the work, and its replacement is stopped.
//  3. If both run, the reconcile strategy of the disconnect block picks one; the
//     other is stopped. Without one, the first that is up goes on. An original
//     that has to be replaced anyway, because the job has changed, is never picked.

// resolveClaims finds the allocation that holds the instance, out of all that claim it.
func (s *sorter) resolveClaims(in *Instance, claims []*api.Allocation) {
	slices.SortFunc(claims, func(a, b *api.Allocation) int {
		if newer(a, b) {
			return 1
		}
		return -1
	})
	if done := s.finished(in, claims); done != nil {
		s.keepClaim(in, done, claims, api.ReasonFinishedByOther)
		return
	}
	var present, away, ended []*api.Allocation
	for _, a := range claims {
		switch {
		case a.IsClientTerminal():
			ended = append(ended, a)
		case s.IsLostWithNode(a):
			in.Group.addExcess(a, s.WhyLost(a))
		case s.Evacuates(in.Group, a):
			if isServed(a, claims) {
				in.Group.addExcess(a, api.ReasonMigrated)
			} else {
				away = append(away, a)
			}
		case a.DesiredTransition.ShouldMigrate() && !s.isLast(a, claims):
			in.Group.addExcess(a, s.whyMovedAway(a))
		case s.IsSuspected(a) && isReplaced(a, claims):
			in.Group.addExcess(a, api.ReasonSuperseded)
		case s.IsUnreachable(a):
			away = append(away, a)
		default:
			present = append(present, a)
		}
	}
	for len(present) > 1 {
		original, replacement := present[0], present[len(present)-1]
		winner, reason := s.survivor(in.Group, original, replacement)
		if winner == nil {
			break
		}
		loser := original
		if winner == original {
			loser = replacement
		}
		in.Group.addExcess(loser, reason)
		present = slices.DeleteFunc(present, func(a *api.Allocation) bool { return a == loser })
	}
	// The newest of those that are there holds the instance for now, or else the
	// newest of those that may come back, unless what was started in its place
	// failed.
	holders := slices.Concat(away, present)
	if a := newestOf(claims); len(present) == 0 && len(away) > 0 && (a.ClientStatus == api.AllocClientFailed || a.ClientStatus == api.AllocClientComplete) {
		holders = append(holders, a)
	}
	for _, a := range holders {
		if in.Alloc != nil {
			in.Group.Behind = append(in.Group.Behind, in.Alloc)
		}
		in.Alloc = a
	}
	if in.Alloc == nil { // none may run: the newest tells how the instance is
		in.Alloc = newestOf(claims)
		in.Group.Excess = slices.DeleteFunc(in.Group.Excess, func(l Departure) bool { return l.Alloc == in.Alloc })
	}
	for _, a := range ended {
		if a != in.Alloc {
			in.Group.Excess = append(in.Group.Excess, Departure{in.Group, a, api.ReasonEndedBesideOther})
		}
	}
}

// isReplaced reports whether something newer that claims the instance is up.
func isReplaced(a *api.Allocation, claims []*api.Allocation) bool {
	return slices.ContainsFunc(claims, func(b *api.Allocation) bool { return newer(b, a) && IsUpNow(b) })
}

// IsUpNow reports whether the allocation is up, and its node is heard of.
func IsUpNow(a *api.Allocation) bool { return !a.IsSuspect() && a.IsUp() }

// isServed reports whether something newer that claims the instance serves: it is
// up, and ready for traffic if it has any.
func isServed(a *api.Allocation, claims []*api.Allocation) bool {
	return slices.ContainsFunc(claims, func(b *api.Allocation) bool { return newer(b, a) && ServesNow(b) })
}

func ServesNow(a *api.Allocation) bool {
	return IsUpNow(a) && (a.Serving == nil || a.Serving.Routable)
}

// newestOf returns the newest of sorted claims.
func newestOf(claims []*api.Allocation) *api.Allocation { return claims[len(claims)-1] }

// isLast reports whether nothing else that claims the instance may run.
func (s *sorter) isLast(a *api.Allocation, claims []*api.Allocation) bool {
	return !slices.ContainsFunc(claims, func(b *api.Allocation) bool {
		return b != a && !b.IsClientTerminal() && !s.IsLostWithNode(b) && !b.DesiredTransition.ShouldMigrate()
	})
}

// keepClaim gives the instance to one claim and stops the others.
func (s *sorter) keepClaim(in *Instance, winner *api.Allocation, claims []*api.Allocation, reason api.Reason) {
	in.Alloc = winner
	for _, a := range claims {
		if a != winner {
			in.Group.Excess = append(in.Group.Excess, Departure{in.Group, a, reason})
		}
	}
}

// finished returns the claim that has done the work of a job that runs to
// completion.
func (s *sorter) finished(in *Instance, claims []*api.Allocation) *api.Allocation {
	if s.Job == nil || !s.Job.RunsToCompletion() {
		return nil
	}
	for _, a := range claims {
		if a.ClientStatus == api.AllocClientComplete && !s.IsOutdated(in.Group, a) {
			return a
		}
	}
	return nil
}

// survivor picks the one of two allocations that goes on, and says why the
// other does not. It picks none as long as that has to be waited for.
func (s *sorter) survivor(g *Group, original, replacement *api.Allocation) (winner *api.Allocation, reason api.Reason) {
	d := s.disconnect(original)
	switch was, is := s.IsOutdated(g, original), s.IsOutdated(g, replacement); {
	case was && !is: // also the one that a promoted canary takes the place of
		return replacement, api.ReasonUpdated
	case is && !was && d == nil:
		return original, api.ReasonUpdated
	case original.Name != replacement.Name, !s.Knows(original):
		return replacement, api.ReasonDuplicate
	case d == nil && original.NextAllocation == "":
		return replacement, api.ReasonDuplicate
	case d == nil:
		return firstUp(original, replacement)
	case was:
		return replacement, api.ReasonUpdated
	case is && !was && original.ClientStatus == api.AllocClientRunning:
		return original, api.ReasonUpdated
	}
	runs := IsUpNow
	strategy := opt.Of(d.Reconcile)
	switch {
	case strategy == api.ReconcileKeepReplacement && runs(replacement):
		return replacement, api.ReasonReplacementKept
	case original.ClientStatus == api.AllocClientUnknown, replacement.ClientStatus == api.AllocClientUnknown:
		return nil, 0 // its node has not said yet whether it runs
	case strategy == api.ReconcileKeepReplacement:
		if runs(original) {
			return nil, 0 // somebody has to serve until the replacement runs
		}
		return replacement, api.ReasonReplacementKept
	case strategy == api.ReconcileKeepOriginal, runs(original) && !runs(replacement):
		return original, api.ReasonOriginalKept
	case !runs(original) && runs(replacement):
		return replacement, api.ReasonReplacementKept
	case strategy == api.ReconcileLongestRunning:
		if StartedAt(replacement).Before(StartedAt(original)) {
			return replacement, api.ReasonReplacementKept
		}
	case score(replacement) > score(original):
		return replacement, api.ReasonReplacementKept
	}
	return original, api.ReasonOriginalKept
}

// firstUp picks the one of two allocations that is up, one of which was started
// because the other's node was not heard of.
func firstUp(original, replacement *api.Allocation) (winner *api.Allocation, reason api.Reason) {
	switch {
	case IsUpNow(replacement):
		return replacement, api.ReasonSuperseded
	case IsUpNow(original):
		return original, api.ReasonOriginalKept
	}
	return nil, 0 // somebody has to serve until one of them does
}

// StartedAt is when the last of the allocation's tasks was started that runs.
func StartedAt(a *api.Allocation) time.Time {
	var at time.Time
	for _, t := range a.TaskStates {
		if t.State == api.TaskStateRunning && t.StartedAt.After(at) {
			at = t.StartedAt
		}
	}
	if at.IsZero() {
		at = time.Unix(0, a.CreateTime)
	}
	return at
}

// score is how the allocation's node was rated when it was placed.
func score(a *api.Allocation) float64 {
	if a.Metrics != nil {
		for _, m := range a.Metrics.ScoreMetaData {
			if m.NodeID == a.NodeID {
				return m.NormScore
			}
		}
	}
	return 0
}
