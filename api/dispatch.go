// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Separators between the id of a job and the suffix of its children.
const (
	PeriodicLaunchSuffix = "/periodic-"
	DispatchLaunchSuffix = "/dispatch-"
)

// DispatchPayloadLimit is the maximum size of a dispatch payload, in bytes.
const DispatchPayloadLimit = 16 << 10

// Values of Parameterized.Payload.
const (
	PayloadOptional  = "optional"
	PayloadRequired  = "required"
	PayloadForbidden = "forbidden"
)

// DispatchJobRequest dispatches a parameterized job with arguments.
type DispatchJobRequest struct {
	JobID            string
	Payload          []byte // base64 in JSON; at most DispatchPayloadLimit bytes
	Meta             map[string]string
	IdPrefixTemplate string `json:",omitempty"` // precedes the time in the child's id
	Priority         int    `json:",omitempty"` // priority of the child; 0: its parent's
	IdempotencyToken string `json:",omitempty"` // repeated requests with the same token return the same child
}

// DispatchJobResponse names the dispatched job.
type DispatchJobResponse struct {
	DispatchedJobID string
	EvalID          string
	EvalCreateIndex uint64
	JobCreateIndex  uint64
	Index           uint64
}

// DispatchPayloadResponse holds the payload of a dispatched job.
type DispatchPayloadResponse struct {
	Payload []byte // base64 in JSON
}

// ForcePeriodicResponse holds the id of the evaluation of the started child.
type ForcePeriodicResponse struct {
	EvalID          string
	EvalCreateIndex uint64
	Index           uint64
}

// PeriodicChildID returns the id of the child that a periodic job starts at a time.
func PeriodicChildID(parent string, at time.Time) string {
	return fmt.Sprintf("%s%s%d", parent, PeriodicLaunchSuffix, at.Unix())
}

// DispatchChildID returns an id for a child of a parameterized job. unique distinguishes
// children of the same second.
func DispatchChildID(parent, prefix, unique string, at time.Time) string {
	if prefix != "" {
		prefix += "-"
	}
	return fmt.Sprintf("%s%s%s%d-%s", parent, DispatchLaunchSuffix, prefix, at.Unix(), unique)
}

// CheckDispatch returns an error that lists everything that makes the dispatch request
// invalid, or nil.
func (j *Job) CheckDispatch(r *DispatchJobRequest) error {
	switch {
	case j.Dispatched:
		return Errorf(CodeInvalid, "job %q was made by dispatching job %q: dispatch that one", j.ID, j.ParentID)
	case j.Parameterized == nil:
		return Errorf(CodeInvalid, "job %q is not parameterized: only jobs with a parameterized block can be dispatched", j.ID)
	case j.Stop:
		return Errorf(CodeInvalid, "job %q is stopped: run it again before dispatching it", j.ID)
	}
	var c complaints
	p := j.Parameterized
	switch n := len(r.Payload); {
	case n > DispatchPayloadLimit:
		c.add("the payload has %d bytes; at most %d are allowed: put it where tasks can fetch it, and its address into meta", n, DispatchPayloadLimit)
	case n == 0 && p.Payload == PayloadRequired:
		c.add("the payload is missing: the parameterized block says that it is required")
	case n > 0 && p.Payload == PayloadForbidden:
		c.add("there is a payload, but the parameterized block says that it is forbidden")
	}
	for _, key := range slices.Sorted(maps.Keys(r.Meta)) {
		if !slices.Contains(p.MetaRequired, key) && !slices.Contains(p.MetaOptional, key) {
			c.add("meta %q is unknown: %s", key, p.metaInWords())
		}
	}
	for _, key := range p.MetaRequired {
		if _, ok := r.Meta[key]; !ok {
			c.add("meta %q is missing: it is required", key)
		}
	}
	if len(r.IdPrefixTemplate) > maxNameLength || strings.ContainsFunc(r.IdPrefixTemplate, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == '/'
	}) {
		c.add("id prefix %q: must be at most %d characters without white space and slashes", r.IdPrefixTemplate, maxNameLength)
	}
	if r.Priority != 0 && (r.Priority < JobPriorityMin || r.Priority > JobPriorityMax) {
		c.add("priority %d: must be between %d and %d", r.Priority, JobPriorityMin, JobPriorityMax)
	}
	if len(c) == 0 {
		return nil
	}
	e := Errorf(CodeInvalid, "job %q cannot be dispatched so", j.ID)
	e.Detail = c
	return e
}

func (p *Parameterized) metaInWords() string {
	keys := slices.Concat(p.MetaRequired, p.MetaOptional)
	if len(keys) == 0 {
		return "the parameterized block names no meta"
	}
	slices.Sort(keys)
	return "the parameterized block names " + strings.Join(keys, ", ")
}

// validateStarts validates the blocks of a job that starts children.
func (j *Job) validateStarts(c *complaints) {
	if j.Periodic != nil && j.Parameterized != nil {
		c.add("periodic and parameterized exclude each other: a job is started by its schedule or by dispatching it")
	}
	if p := j.Periodic; p != nil {
		p.validate(c, j)
	}
	if p := j.Parameterized; p != nil {
		p.validate(c, j)
	}
	for _, g := range j.Groups {
		if g == nil {
			continue
		}
		for _, t := range g.Tasks {
			if t == nil || t.DispatchPayload == nil {
				continue
			}
			at := fmt.Sprintf("group %q, task %q: dispatch_payload", g.Name, t.Name)
			switch file := t.DispatchPayload.File; {
			case j.Parameterized == nil:
				c.add("%s: only tasks of a parameterized job are given a payload", at)
			case j.Parameterized.Payload == PayloadForbidden:
				c.add("%s: the parameterized block forbids a payload", at)
			case file == "":
				c.add("%s: file is missing: it names the file below the task's local directory", at)
			case !isLocalPath(file):
				c.add("%s: file %q: must stay below the task's local directory", at, file)
			}
		}
	}
}

// warnOfPayload warns about a required payload that no task reads.
func (j *Job) warnOfPayload(c *complaints) {
	if j.Parameterized == nil || j.Parameterized.Payload != PayloadRequired {
		return
	}
	for _, g := range j.Groups {
		for _, t := range g.Tasks {
			if t.DispatchPayload != nil {
				return
			}
		}
	}
	c.add("parameterized: a payload is required, and no task has a dispatch_payload block that says where it is written")
}

// isLocalPath reports whether a slash-separated path stays below its starting directory.
func isLocalPath(path string) bool {
	depth := 0
	for _, part := range strings.Split(path, "/") {
		switch part {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return false
			}
		default:
			depth++
		}
	}
	return depth > 0 && !strings.HasPrefix(path, "/") && !strings.ContainsRune(path, 0)
}

func (p *Periodic) validate(c *complaints, j *Job) {
	if j.Type == JobTypeService || j.Type == JobTypeSystem {
		c.add("type %q cannot be periodic: its instances never end; use batch or sysbatch", j.Type)
	}
	if p.SpecType != "cron" {
		c.add("periodic: SpecType %q: must be cron", p.SpecType)
	}
	if p.Spec != "" && len(p.Specs) > 0 {
		c.add("periodic: cron and crons exclude each other: put all expressions into crons")
	}
	schedule, err := p.Schedule()
	if err != nil {
		c.add("periodic: %v", err)
		return
	}
	if p.IsEnabled() && schedule.Next(time.Unix(0, 0)).IsZero() {
		c.add("periodic: %s is never met", strings.Join(p.Expressions(), ", "))
	}
}

func (p *Parameterized) validate(c *complaints, j *Job) {
	if !j.RunsToCompletion() {
		c.add("type %q cannot be parameterized: its instances never end; use batch or sysbatch", j.Type)
	}
	if !slices.Contains([]string{PayloadOptional, PayloadRequired, PayloadForbidden}, p.Payload) {
		c.add("parameterized: payload %q: must be optional, required or forbidden", p.Payload)
	}
	for _, key := range p.MetaRequired {
		if slices.Contains(p.MetaOptional, key) {
			c.add("parameterized: meta %q is both required and optional", key)
		}
	}
}
