// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Effects of a change of a template on its task.
const (
	TemplateRestart = "restart" // the task is restarted
	TemplateRolling = "rolling" // a rolling restart of the group reaches the task
	TemplateSignal  = "signal"  // the task receives a signal
	TemplateScript  = "script"  // a script runs beside the task
	TemplateNoop    = "noop"    // only the file changes
)

// Kinds of values that templates need.
const (
	TemplateVariable  = "variable"
	TemplateVariables = "variables"
	TemplateService   = "service"
	TemplateServices  = "services"
)

// States of such values.
const (
	TemplatePresent   = "present"
	TemplateAbsent    = "absent"
	TemplateForbidden = "forbidden"
)

// Limits of requests for values.
const (
	MaxTemplateNeeds = 1 << 16
	MaxTemplateWait  = 5 * time.Minute
	maxTaskTemplates = 64
	maxPendingBytes  = 64
)

// A TemplateState is what a node reports of a template.
type TemplateState struct {
	Destination string
	Rendered    time.Time `json:",omitzero"`  // when its content last changed
	Waiting     string    `json:",omitempty"` // what it waits for; "" if it is up to date
	// Pending identifies the values of a newer rendering that the task receives when a rolling restart reaches it; ""
	// if it has none. It is equal on all nodes for equal values, and reveals nothing of them.
	Pending string `json:",omitempty"`
}

// PendingTemplates returns the destinations of the task's templates with a newer rendering that waits for a
// rolling restart, and what identifies their values.
func (s *TaskState) PendingTemplates() (destinations, values []string) {
	if s == nil {
		return nil, nil
	}
	for _, t := range s.Templates[:min(len(s.Templates), maxTaskTemplates)] { // no task has more, whatever a node reports
		if t != nil && t.Pending != "" && len(t.Pending) <= maxPendingBytes {
			destinations, values = append(destinations, t.Destination), append(values, t.Pending)
		}
	}
	return destinations, values
}

// HasPendingTemplates reports whether a task of the allocation waits for a rolling restart with a newer rendering.
func (a *Allocation) HasPendingTemplates() bool {
	for _, s := range a.TaskStates {
		if all, _ := s.PendingTemplates(); len(all) > 0 {
			return true
		}
	}
	return false
}

// A TemplateValuesRequest asks for the values that templates of a node's tasks need.
type TemplateValuesRequest struct {
	Wait  time.Duration   // longest time to wait for a change; 0: answer immediately
	Tasks []*TemplateTask // with at most MaxTemplateNeeds needs together
}

// A TemplateTask is a task with templates.
type TemplateTask struct {
	AllocID string
	Task    string
	Needs   []*TemplateNeed
}

// A TemplateNeed is one value that a template needs.
type TemplateNeed struct {
	Kind      string // one of the kinds above
	Namespace string `json:",omitempty"` // "": that of the allocation
	Name      string `json:",omitempty"` // path, prefix or name
	Stamp     string `json:",omitempty"` // of the value that the node has; "": none
}

// A TemplateValuesResponse holds the values whose stamps differ.
type TemplateValuesResponse struct {
	Values []*TemplateValue
}

// A TemplateValue is the value of one need.
type TemplateValue struct {
	Task      int // index in the request
	Need      int // index in the task's needs
	Stamp     string
	State     string                 // present, absent or forbidden
	Reason    string                 `json:",omitempty"` // why it is forbidden
	Variable  *Variable              `json:",omitempty"`
	Variables []*VariableMetadata    `json:",omitempty"`
	Services  []*ServiceRegistration `json:",omitempty"`
	Names     []*ServiceStub         `json:",omitempty"`
}

// Mode returns the permissions of the file.
func (t *Template) Mode() (uint32, error) {
	n, err := strconv.ParseUint(t.Perms, 8, 32)
	if err != nil || n > 0o777 {
		return 0, fmt.Errorf("perms %q: must be an octal number from \"0\" to \"0777\"", t.Perms)
	}
	return uint32(n), nil
}

var templateScript = regexp.MustCompile(`^\S`)

// validateTemplates checks the template blocks of a task. The servers also parse the text.
func (t *Task) validateTemplates(c *complaints, at string) {
	if len(t.Templates) > maxTaskTemplates {
		c.add("%s: has %d template blocks; at most %d are allowed", at, len(t.Templates), maxTaskTemplates)
		return
	}
	seen := map[string]bool{}
	for i, tmpl := range t.Templates {
		if tmpl == nil {
			c.add("%s: template %d is empty", at, i+1)
			continue
		}
		if tmpl.DestPath != "" && seen[path.Clean(tmpl.DestPath)] {
			c.add("%s: template %d: destination %q: another template has the same file", at, i+1, tmpl.DestPath)
		}
		seen[path.Clean(tmpl.DestPath)] = true
		tmpl.validate(c, fmt.Sprintf("%s: template %d (%q)", at, i+1, tmpl.DestPath))
	}
}

// validateRolling rejects change_mode = "rolling" in tasks of a job that no rolling restart reaches.
func (t *Task) validateRolling(c *complaints, at string, j *Job) {
	for i, tmpl := range t.Templates {
		if tmpl != nil && tmpl.ChangeMode == TemplateRolling && !t.canRoll(j) {
			c.add("%s: template %d (%q): change_mode \"rolling\" needs a task that keeps running, in a job of type service or system; use \"restart\"", at, i+1, tmpl.DestPath)
		}
	}
}

// canRoll reports whether rolling restarts of a job reach the task.
func (t *Task) canRoll(j *Job) bool {
	return !j.RunsToCompletion() && (t.Lifecycle == nil || t.Lifecycle.Sidecar) && (t.Goal == "" || t.Goal == GoalRunning)
}

func (t *Template) validate(c *complaints, at string) {
	switch {
	case t.DestPath == "":
		c.add("%s: destination is missing: name a file below local/, secrets/, or the task's directory", at)
	case !isTemplateFile(t.DestPath):
		c.add("%s: destination must name a file below the task's directory, such as local/app.conf", at)
	}
	switch {
	case t.SourcePath != "" && t.EmbeddedTmpl != "":
		c.add("%s: has source and data; remove one of them", at)
	case t.SourcePath == "" && t.EmbeddedTmpl == "":
		c.add("%s: data is missing: write the template there, or name its file in source", at)
	case t.SourcePath != "" && !isTemplateFile(t.SourcePath):
		c.add("%s: source must name a file below the task's directory, such as local/app.tpl", at)
	}
	if _, err := t.Mode(); err != nil {
		c.add("%s: %v", at, err)
	}
	for _, id := range []struct {
		name string
		of   *int
	}{{"uid", t.UID}, {"gid", t.GID}} {
		if id.of != nil && (*id.of < -1 || *id.of > 1<<31-2) {
			c.add("%s: %s %d: must be 0 to %d, or -1 for the user of the task", at, id.name, *id.of, 1<<31-2)
		}
	}
	if t.Splay != nil && *t.Splay < 0 {
		c.add("%s: splay %s: must not be negative", at, *t.Splay)
	}
	t.validateWait(c, at)
	t.validateChange(c, at)
}

func (t *Template) validateWait(c *complaints, at string) {
	w := t.Wait
	if w == nil {
		return
	}
	var least, most time.Duration
	if w.Min != nil {
		least = *w.Min
	}
	most = 4 * least
	if w.Max != nil {
		most = *w.Max
	}
	if least < 0 || most < least || least > time.Hour {
		c.add("%s: wait: min %s and max %s: min must be 0 to 1h, and max at least min", at, least, most)
	}
}

func (t *Template) validateChange(c *complaints, at string) {
	switch t.ChangeMode {
	case TemplateRestart, TemplateRolling, TemplateNoop:
	case TemplateSignal:
		if t.ChangeSignal == "" {
			c.add("%s: change_signal is missing: name a signal such as \"SIGHUP\"", at)
		}
		if t.Envvars {
			c.add("%s: change_mode \"signal\" has no effect with env = true, because a process keeps its environment; use \"restart\"", at)
		}
	case TemplateScript:
		if t.ChangeScript == nil || !templateScript.MatchString(t.ChangeScript.Command) {
			c.add("%s: change_script is missing: name the command that runs after a change", at)
		} else if d := t.ChangeScript.Timeout; d != nil && *d <= 0 {
			c.add("%s: change_script: timeout %s: must be more than 0", at, *d)
		}
		if t.Envvars {
			c.add("%s: change_mode \"script\" has no effect with env = true, because a process keeps its environment; use \"restart\"", at)
		}
	default:
		c.add("%s: change_mode %q: must be \"rolling\", \"restart\", \"signal\", \"script\" or \"noop\"", at, t.ChangeMode)
	}
	if t.ChangeMode != TemplateSignal && t.ChangeSignal != "" {
		c.add("%s: change_signal %q has no effect: set change_mode = \"signal\"", at, t.ChangeSignal)
	}
}

// isTemplateFile reports whether a path, also one that begins with a variable of a task's directory, names a file below
// the task's directory.
func isTemplateFile(file string) bool {
	_, ok := TemplatePath(file)
	return ok
}

// TemplatePath returns the path of a template's file relative to the task's directory. The first component may be
// a variable such as ${NOMAD_TASK_DIR}. Paths below "alloc" are relative to the directory that tasks share.
func TemplatePath(file string) (string, bool) {
	for prefix, dir := range map[string]string{
		"${NOMAD_TASK_DIR}": "local", "${REEVE_TASK_DIR}": "local", "${NOMAD_SECRETS_DIR}": "secrets", "${REEVE_SECRETS_DIR}": "secrets",
		"${NOMAD_ALLOC_DIR}": "alloc", "${REEVE_ALLOC_DIR}": "alloc", "/local": "local", "/secrets": "secrets", "/alloc": "alloc", "../alloc": "alloc",
	} {
		if rest, ok := strings.CutPrefix(file, prefix+"/"); ok {
			file = dir + "/" + rest
			break
		}
	}
	if strings.ContainsAny(file, "\x00") || strings.Contains(file, "${") || len(file) > 1024 || strings.HasSuffix(file, "/") {
		return "", false
	}
	clean := path.Clean(file)
	if clean == "." || path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", false
	}
	switch clean {
	case "local", "secrets", "alloc", "tmp", "secrets/api.sock":
		return "", false
	}
	return clean, true
}
