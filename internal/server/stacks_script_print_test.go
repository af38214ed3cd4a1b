// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/server/control"
)

// stackOf returns the job of a stack: UNIT VERSION [KEY=VALUE...].
//
//	depends=UNIT@WANT[?],...  dependencies; ?: optional
//	expose=HOST,...           exposed hosts
//	shift=POLICY over=D steps=STEP,...
//	policy=NAME idle=D ttl=D extend=D grace=D
//	port=none                 a worker; periodic=CRON and parameterized=true have no port either
//	meta=TEXT domain=NAME
func (w *stackWorld) stackOf(words []string) *api.Job {
	unit, version, keys := words[0], words[1], words[2:]
	values := make(map[string]string)
	for _, key := range keys {
		name, value, _ := strings.Cut(key, "=")
		values[name] = value
	}
	var job *api.Job
	switch {
	case values["periodic"] != "":
		job = periodicJob(unit, api.Periodic{Specs: []string{strings.ReplaceAll(values["periodic"], "_", " ")}})
		job.Stack = &api.StackSpec{Version: version}
	case values["parameterized"] != "":
		job = parameterizedJob(unit, api.Parameterized{})
		job.Stack = &api.StackSpec{Version: version}
	default:
		job = stackJob(unit, version)
	}
	s := job.Stack
	span := func(text string) *time.Duration { return ptr(duration(w, text)) }
	shift := func() *api.ShiftSpec {
		if s.Shift == nil {
			s.Shift = &api.ShiftSpec{}
		}
		return s.Shift
	}
	for key, value := range values {
		switch key {
		case "depends":
			for _, d := range strings.Split(value, ",") {
				name, want, _ := strings.Cut(d, "@")
				want, optional := strings.CutSuffix(want, "?")
				s.Depends = append(s.Depends, &api.StackDependency{Unit: name, Version: want, Optional: optional})
			}
		case "expose":
			for _, host := range strings.Split(value, ",") {
				s.Expose = append(s.Expose, &api.StackExposure{Host: host})
			}
		case "shift":
			shift().Policy = value
		case "over":
			shift().Over = *span(value)
		case "steps":
			shift().Policy, shift().Steps = api.ShiftSteps, strings.Split(value, ",")
		case "policy":
			s.Policy = &api.RetentionPolicy{Name: value}
		case "idle":
			s.Idle = span(value)
		case "ttl":
			s.InitialTTL = span(value)
		case "extend":
			s.ExtendTTL = span(value)
		case "grace":
			s.Grace = span(value)
		case "port":
			job.Groups[0].Networks = nil
		case "meta":
			job.Meta = map[string]string{"meta": value}
		case "domain":
			job.Domain = value
		case "periodic", "parameterized":
		default:
			w.t.Fatalf("stack %s %s: unknown key %q", unit, version, key)
		}
	}
	return job
}

func (w *stackWorld) printStacks(args []string) string {
	f := server.StackFilter{Namespace: "*", Unit: strings.Join(args, "")}
	list, _ := server.Stacks(w.Store().Snapshot(), f)
	var out strings.Builder
	for _, s := range list {
		share := "-"
		if s.Status == api.StackReady && s.Shape == api.ShapeService {
			share = about(s.Share)
		}
		name := shortStack(s.Name)
		if s.Namespace != "dev" {
			name = s.Namespace + ":" + name
		}
		why := s.StatusText()
		if s.Verdict != nil && s.Verdict.Reason != api.KeptUnfinished && !s.Removing {
			why = s.Why
		}
		if s.Status == api.StackReady && s.Verdict == nil {
			why = "no sweep yet"
		}
		fmt.Fprintf(&out, "%-24s %-10s %6s  %-9s %s\n", name, s.Shown, share, w.expiry(s), why)
	}
	if out.Len() == 0 {
		return "none\n"
	}
	return out.String()
}

// expiry is the time that a stack has left, as an upper bound: sweeps do not run at exact times.
func (w *stackWorld) expiry(s *api.StackStatus) string {
	left, unit := time.Until(s.Expires), 10*time.Minute
	switch {
	case s.IsHeld(time.Now()):
		return "held"
	case s.Expires.IsZero():
		return "-"
	case left <= 0:
		return "over"
	case left > 2*time.Hour:
		unit = time.Hour
	}
	text := ((left + unit - 1) / unit * unit).String()
	text = strings.TrimSuffix(text, "0s")
	return "<= " + strings.TrimSuffix(text, "h0m") + strings.Repeat("h", strings.Count(text, "h0m"))
}

// about rounds a share between its ends to 5 %: advances do not happen at exact times.
func about(share float64) string {
	switch share {
	case 0:
		return "0 %"
	case 1:
		return "100 %"
	}
	return "~" + strconv.Itoa(int(math.Round(share*20)*5)) + " %"
}

func (w *stackWorld) printHistory(name string) string {
	s := w.find(name)
	var out strings.Builder
	for r := range w.Store().Snapshot().Audit(s.Namespace, api.AuditStack, s.Name) {
		by := ""
		if r.By != "" {
			by = " by " + r.By
		}
		fmt.Fprintf(&out, "%s%s: %s\n", r.Action, by, r.Reason)
	}
	return out.String()
}

func (w *stackWorld) resolve(text string) string {
	unit, want, _ := strings.Cut(text, "@")
	v, err := api.ParseFeatureVersion(want)
	if err != nil {
		w.t.Fatal(err)
	}
	t := control.LifecycleIndex(w.Store().Snapshot(), nil).Resolve(w.namespace, unit, v)
	switch {
	case t.Stack == nil:
		return "nothing\n"
	case t.Next == nil:
		return t.Stack.Namespace + ":" + t.Stack.Name + "\n"
	}
	return fmt.Sprintf("%s %s, %s %s\n", t.Stack.Name, about(1-t.Share), t.Next.Name, about(t.Share))
}

func (w *stackWorld) printCatalog(unit string) string {
	w.pass(time.Millisecond)
	m, err := w.Catalog().Subscribe().Next(w.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	var out strings.Builder
	for _, s := range slices.Backward(m.Stacks) {
		if name, _, _, ok := api.ParseStackName(s.Stack); ok && name == unit {
			fmt.Fprintf(&out, "%s %s\n", s.Stack, about(s.Share))
		}
	}
	return out.String()
}

func (w *stackWorld) newestShift(unit string) (newest *api.Shift) {
	list, _ := server.Shifts(w.Store().Snapshot(), w.namespace)
	for _, s := range list {
		if s.Unit == unit && newest == nil {
			newest = s
		}
	}
	return newest
}

func (w *stackWorld) printShift(unit string) string {
	s := w.newestShift(unit)
	if s == nil {
		return "none\n"
	}
	text := fmt.Sprintf("%s -> %s %s %s", s.From, s.To, s.Status, about(s.Share))
	if s.Held {
		text += " held"
	}
	if s.Reason != "" {
		text += ": " + s.Reason
	}
	return text + "\n"
}

func (w *stackWorld) sweepNow() string {
	res, err := w.SweepStacks(w.Context(), false)
	if err != nil {
		return printed(err)
	}
	out := ""
	for _, d := range res.Decisions {
		if d.Action != "" {
			out += fmt.Sprintf("%s %s: %s\n", d.Stack, d.Action, d.Why)
		}
	}
	w.pass(time.Second)
	return out
}

func (w *stackWorld) printChildren(name string) string {
	s := w.find(name)
	all, run := 0, 0
	for job := range w.Store().Snapshot().Jobs() {
		if job.ParentID == s.Name && job.Namespace == s.Namespace {
			all++
			if job.Status != api.JobStatusDead {
				run++
			}
		}
	}
	return fmt.Sprintf("%d started, %d running\n", all, run)
}

// printed returns an error with its code, or nothing.
func printed(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%s: %v\n", api.CodeOf(err), err)
}

var (
	stackNames = regexp.MustCompile(`([a-z0-9-]+?)--(\d+)-(\d+)-(\d+)--[a-z0-9]{8}`)
	stackIDs   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

// shorten replaces the names of stacks by UNIT@VERSION, and ids, which differ in every run.
func shorten(text string) string {
	return stackIDs.ReplaceAllString(stackNames.ReplaceAllString(text, "$1@$2.$3.$4"), "ID")
}

func shortStack(name string) string {
	unit, v, _, ok := api.ParseStackName(name)
	if !ok {
		return name
	}
	return unit + "@" + v.String()
}
