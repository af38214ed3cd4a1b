// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"time"

	"github.com/reeve-run/reeve/api"
)

// This file says why a check fails, as data. It says so once for as long as the
// check fails in the same way: answers differ in every probe, and whoever is told
// of one tells the servers.

// Failure is why the check fails; nil while it does not, or has not been asked.
func (s *Scheduler) Failure(alloc, id string) *api.CheckFailure {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.allocs[alloc][id]; e != nil {
		return e.failure
	}
	return nil
}

// tell keeps why the check fails, and reports whether that is new.
func (e *entry) tell(r result, now time.Time) bool {
	if e.status != api.CheckStatusFailure {
		told := e.failure != nil
		e.failure = nil
		return told
	}
	if r.ok { // but not often enough to pass
		return false
	}
	t := e.target
	f := &api.CheckFailure{Kind: r.kind, Service: t.Service, Check: t.Check.Name, Task: t.Task, Since: now.UnixNano()}
	switch t.Check.Type {
	case api.CheckHTTP:
		f.StatusCode = r.code
	case api.CheckScript:
		f.ExitCode = r.code
	}
	if old := e.failure; old != nil && old.Kind == f.Kind && old.StatusCode == f.StatusCode && old.ExitCode == f.ExitCode {
		return false
	}
	if f.Answer = brief(r.output); len(f.Answer) > api.CheckAnswerMax {
		f.Answer = strings.ToValidUTF8(f.Answer[:api.CheckAnswerMax], "")
	}
	e.failure = f
	return true
}

// kindOf is why a probe got no answer.
func kindOf(ctx context.Context, err error) api.TroubleKind {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return api.TroubleCheckTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return api.TroubleCheckRefused
	}
	return api.TroubleCheckFailed
}

// A finding is what was found out about a check that fails.
type finding struct {
	of    api.TroubleKind // that the probe reported
	kind  api.TroubleKind
	words string
}

// What looking for reasons is limited by: most tasks do not answer in the moment
// in which they are started, and to look costs more than to ask.
const (
	patience     = 2 * time.Second  // from the start of what is asked
	lookInterval = 10 * time.Second // from one look to the next
)

// diagnose adds to a result that is not ok what can be found out about it. Only
// the probe that is under way calls it.
func (e *entry) diagnose(r *result, now time.Time) {
	look := e.target.Diagnose
	if look == nil || r.ok || r.void || r.kind == "" || r.kind == api.TroubleCheckTimeout || now.Sub(e.since) < patience {
		return
	}
	if e.finding.of != r.kind || now.Sub(e.diagnosed) >= lookInterval {
		e.diagnosed, e.finding = now, finding{of: r.kind}
		e.finding.kind, e.finding.words = look(r.kind == api.TroubleCheckRefused)
	}
	if e.finding.kind != "" {
		r.kind = e.finding.kind
		r.output += "; " + e.finding.words
	}
}
