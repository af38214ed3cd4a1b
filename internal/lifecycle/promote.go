// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Warmth counts a warming stack's instances.
type Warmth struct {
	Passing int // instances that are healthy
	Failing int // instances that are not
}

// IsHealthy reports whether most instances are healthy. A stack without instances is not.
func (w Warmth) IsHealthy() bool { return w.Passing > w.Failing }

// A Wait says why a warming stack is not promoted yet.
type Wait string

// Reasons of a warming stack to wait. Wait.Reason returns those that a stack stores.
const (
	WaitHealth  Wait = "health"  // most instances are not healthy
	WaitShift   Wait = "shift"   // a shift of its major version runs
	WaitEarlier Wait = "earlier" // an earlier version is promoted first
)

// A Promotion is the decision about one warming stack.
type Promotion struct {
	Stack *api.Stack
	Wait  Wait   // why the stack keeps warming; "": it does not
	Other string // name of the stack or id of the shift that it waits for or that overtook it
	// Overtaken reports that the stack fails, because the newer stack Other is healthy.
	Overtaken bool
	// Target reports that the stack becomes the target of its major version: there
	// was none.
	Target bool
	// ShiftFrom is the stack from which a shift to this one begins; nil: none does.
	ShiftFrom *api.Stack
	// Lower reports that the stack becomes ready without traffic, because the target
	// ShiftFrom would have been has a higher version.
	Lower bool
}

// IsPromoted reports whether the stack becomes ready.
func (p Promotion) IsPromoted() bool { return p.Wait == "" && !p.Overtaken }

// Promote decides about the warming stacks of a unit's major version, in ascending order of
// version. At most one that receives traffic is promoted at a time: the lowest healthy one.
// The fix of a broken version overtakes it.
func (x *Index) Promote(namespace, name string, number uint32, warmth func(*api.Stack) Warmth) []Promotion {
	u := x.units[unitKey{namespace, name}]
	if u == nil {
		return nil
	}
	var promotions []Promotion
	var nodes []*node
	for i := range u.nodes {
		if n := &u.nodes[i]; n.stack.Status == api.StackWarming && n.stack.Version.Major == number {
			promotions = append(promotions, Promotion{Stack: n.stack, Wait: waitFor(warmth(n.stack))})
			nodes = append(nodes, n)
		}
	}
	u.overtake(promotions)
	promoted := ""
	m := u.major(number)
	for i := range promotions {
		p := &promotions[i]
		switch {
		case p.Wait != "" || p.Overtaken:
		case promoted != "":
			p.Wait, p.Other = WaitEarlier, promoted
		case m == nil:
			p.Target, promoted = true, p.Stack.Name
		default:
			p.join(m, nodes[i].isDeprecated())
			if p.ShiftFrom != nil {
				promoted = p.Stack.Name
			}
		}
	}
	return promotions
}

func waitFor(w Warmth) Wait {
	if !w.IsHealthy() {
		return WaitHealth
	}
	return ""
}

// overtake fails warming stacks that are not healthy while a stack with a higher version, which was deployed
// later, is healthy or ready: the fix of a broken version does not wait for it.
func (u *unit) overtake(promotions []Promotion) {
	for i := range promotions {
		p := &promotions[i]
		if p.Wait != WaitHealth {
			continue
		}
		for _, other := range promotions {
			if other.Wait == "" && !other.Overtaken && isFix(other.Stack, p.Stack) {
				p.Overtaken, p.Other = true, other.Stack.Name
			}
		}
		if m := u.major(p.Stack.Version.Major); m != nil {
			for _, n := range m.routable {
				if isFix(n.stack, p.Stack) {
					p.Overtaken, p.Other = true, n.stack.Name
				}
			}
		}
		if p.Overtaken {
			p.Wait = ""
		}
	}
}

func isFix(fix, broken *api.Stack) bool {
	return fix.Version.Compare(broken.Version) > 0 &&
		cmp.Or(fix.DeployedAt.Compare(broken.DeployedAt), cmp.Compare(fix.CreateIndex, broken.CreateIndex)) > 0
}

// join promotes a stack whose major version has a target already.
func (p *Promotion) join(m *major, deprecated bool) {
	s := p.Stack
	switch target := m.target.stack; {
	case s.Version.Compare(target.Version) < 0 || deprecated:
		p.Lower = true
	case shiftPolicy(s) == api.ShiftNone:
	case m.shift != nil:
		p.Wait, p.Other = WaitShift, m.shift.ID
	default:
		p.ShiftFrom = target
	}
}

func shiftPolicy(s *api.Stack) string {
	if s.Spec == nil || s.Spec.Shift == nil || s.Spec.Shift.Policy == "" {
		return api.ShiftLinear
	}
	return s.Spec.Shift.Policy
}

// WarmingDeadline returns when a stack that runs since a time must be ready.
func WarmingDeadline(s *api.Stack, running time.Time) time.Time {
	return running.Add(s.Spec.TTL())
}
