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

// This file describes a check's failure as data. It reports a failure once for as long as the
// check fails in the same way: answers differ from probe to probe, and each report goes to the
// servers.

// Failure describes why the check fails; nil if it does not fail, or was not probed yet.
func (s *Scheduler) Failure(alloc, id string) *api.CheckFailure {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.allocs[alloc][id]; e != nil {
		return e.failure
	}
	return nil
}

// setFailure records why the check fails, and reports whether the reason is new.
func (e *entry) setFailure(r result, now time.Time) bool {
	if e.status != api.CheckStatusFailure {
		told := e.failure != nil
		e.failure = nil
		return told
	}
	if r.ok { // not often enough to pass
		return false
	}
	if r.shortened && e.failure != nil {
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

// troubleOf returns why a probe received no answer.
func troubleOf(ctx context.Context, err error) api.TroubleKind {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return api.TroubleCheckTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return api.TroubleCheckRefused
	}
	return api.TroubleCheckFailed
}

// A finding is the result of a diagnosis.
type finding struct {
	reported api.TroubleKind // by the probe
	kind     api.TroubleKind // "" if the diagnosis found no reason
	words    string
}

// Limits of diagnoses: most tasks do not answer at the moment of their start, and a
// diagnosis costs more than a probe.
const (
	diagnosisDelay    = 2 * time.Second  // from the start of the probed tasks
	diagnosisInterval = 10 * time.Second // between two diagnoses
)

// diagnose adds the result of a diagnosis to a failed probe. Only the probe in flight calls
// it.
func (e *entry) diagnose(r *result, now time.Time) {
	look := e.target.Diagnose
	if look == nil || r.ok || r.discard || r.kind == "" || r.kind == api.TroubleCheckTimeout || now.Sub(e.since) < diagnosisDelay {
		return
	}
	if e.finding.reported != r.kind || now.Sub(e.diagnosed) >= diagnosisInterval {
		e.diagnosed, e.finding = now, finding{reported: r.kind}
		e.finding.kind, e.finding.words = look(r.kind == api.TroubleCheckRefused)
	}
	if e.finding.kind != "" {
		r.kind = e.finding.kind
		r.output += "; " + e.finding.words
	}
}
