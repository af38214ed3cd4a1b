// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Hold suspends the expiry of a stack until a time, or without limit if the time is zero.
func Hold(s *api.Stack, who, reason string, until, now time.Time) (*api.Stack, error) {
	if s.Status == api.StackTerminated || s.Status == api.StackFailed {
		return nil, refuseStack("hold", s)
	}
	if s.Removing {
		return nil, refuseRemoved("hold", s)
	}
	switch {
	case until.IsZero():
	case !until.After(now):
		return nil, api.Errorf(api.CodeInvalid, "hold until %s: that time has passed", until.Format(time.RFC3339))
	case until.After(now.Add(maxExtension)):
		return nil, api.Errorf(api.CodeInvalid, "hold until %s: must be at most 10 years; without a time the hold has no limit", until.Format(time.RFC3339))
	}
	n := s.Copy()
	n.Hold = &api.StackHold{By: who, Reason: reason, Since: now, Until: until}
	return n, nil
}

// Unhold ends the hold of a stack. Its time is then at least one extension.
func Unhold(s *api.Stack, now time.Time) (*api.Stack, error) {
	if s.Hold == nil {
		return nil, refuseStack("unhold", s)
	}
	n := s.Copy()
	n.Hold = nil
	if !n.Expires.IsZero() {
		n.Expires = later(n.Expires, now.Add(n.Spec.Extension()))
	}
	return n, nil
}

// maxExtension bounds the time that an operator can grant or hold at once.
const maxExtension = 10 * 365 * 24 * time.Hour

// Extend moves the end of a ready stack's time to at least now plus a duration: never to an earlier time. A duration
// of 0 is the extension that its policy grants.
func Extend(s *api.Stack, by time.Duration, now time.Time) (*api.Stack, error) {
	switch {
	case by < 0 || by > maxExtension:
		return nil, api.Errorf(api.CodeInvalid, "extend by %s: must be between 0 and 10 years", by)
	case s.Status != api.StackReady:
		return nil, refuseStack("extend", s)
	case by == 0:
		by = s.Spec.Extension()
	}
	n := s.Copy()
	n.Expires = later(s.Expires, now.Add(by))
	return n, nil
}

// Expire ends the time of a ready stack: the next sweep makes it garbage, unless something uses it or
// its policy keeps it.
func Expire(s *api.Stack, now time.Time) (*api.Stack, error) {
	if s.Status != api.StackReady {
		return nil, refuseStack("expire", s)
	}
	n := s.Copy()
	n.Expires = now
	return n, nil
}

// Rescue makes a ready stack of garbage again, with the time of a duration; 0: its initial time.
func Rescue(s *api.Stack, by time.Duration, now time.Time) (*api.Stack, error) {
	switch {
	case by < 0 || by > maxExtension:
		return nil, api.Errorf(api.CodeInvalid, "rescue for %s: must be between 0 and 10 years", by)
	case s.Status == api.StackGarbage && s.Removing:
		return nil, refuseRemoved("rescue", s)
	case s.Status != api.StackGarbage:
		return nil, refuseStack("rescue", s)
	case by == 0:
		by = s.Spec.TTL()
	}
	n := s.Copy()
	n.Status, n.StatusBefore, n.StatusSince = s.StatusBefore, "", now
	n.StatusReason, n.StatusDescription = api.ReasonStackRescued, ""
	n.Expires = now.Add(by)
	return n, nil
}

// Stop makes a stack garbage, even if something uses it. It is removed after its grace, or immediately.
func Stop(s *api.Stack, atOnce bool, now time.Time) (*api.Stack, error) {
	if s.Status == api.StackTerminated {
		return nil, refuseStack("stop", s)
	}
	n := s
	if s.Status != api.StackGarbage && s.Status != api.StackFailed {
		n = MarkGarbage(s, api.ReasonStackStopped, now)
	}
	n = n.Copy()
	n.Hold = nil
	if s.Status == api.StackPending {
		n.Expires = now // nothing of it runs
	}
	if atOnce || s.Status == api.StackPending {
		n.Removing = true
	}
	return n, nil
}

// MarkGarbage makes a ready stack garbage. It runs without traffic until its grace ends.
func MarkGarbage(s *api.Stack, reason api.Reason, now time.Time) *api.Stack {
	n := s.Copy()
	n.Status, n.StatusBefore, n.StatusSince = api.StackGarbage, s.Status, now
	n.StatusReason, n.StatusDescription = reason, ""
	n.Expires = now.Add(s.Spec.GraceAfter(api.StackGarbage))
	return n
}

// MarkFailed makes a stack failed that did not become ready. The description completes the reason; it may be "".
func MarkFailed(s *api.Stack, reason api.Reason, description string, now time.Time) *api.Stack {
	n := s.Copy()
	n.Status, n.StatusSince, n.StatusReason, n.StatusDescription = api.StackFailed, now, reason, description
	n.Expires = now.Add(s.Spec.GraceAfter(api.StackFailed))
	return n
}

// refuseStack returns the error of a verb that a stack's status does not allow, with the verbs that it allows.
func refuseStack(verb string, s *api.Stack) error {
	options := possibleVerbs(s)
	text := "nothing can be done with it"
	if len(options) > 0 {
		text = "possible: " + strings.Join(options, ", ")
	}
	is := s.Status
	if verb == "unhold" && s.Hold == nil {
		is += " and not held"
	}
	return api.Errorf(api.CodeConflict, "cannot %s stack %s: it is %s; %s", verb, s.Name, is, text)
}

// refuseRemoved returns the error of a verb that comes after the end of a stack's grace.
func refuseRemoved(verb string, s *api.Stack) error {
	return api.Errorf(api.CodeConflict, "cannot %s stack %s: its grace has ended, and its job is being removed; see the progress with: reeve plan show %s uninstall", verb, s.Name, s.Name)
}

// possibleVerbs lists the verbs that change a stack.
func possibleVerbs(s *api.Stack) []string {
	if s.Hold != nil {
		return append(statusVerbs(s.Status), "unhold")
	}
	return statusVerbs(s.Status)
}

// statusVerbs lists the verbs that change a stack in a status, whether it is held or not.
func statusVerbs(status string) []string {
	switch status {
	case api.StackPending, api.StackDeploying, api.StackWarming:
		return []string{"hold", "stop"}
	case api.StackReady:
		return []string{"hold", "extend", "expire", "stop"}
	case api.StackGarbage:
		return []string{"rescue", "hold", "stop"}
	case api.StackFailed:
		return []string{"stop"}
	}
	return nil
}
