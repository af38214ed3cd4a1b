// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"regexp"
)

// A JobAction is an action of a job, with the task in which it runs.
type JobAction struct {
	Name          string
	Command       string
	Args          []string
	JobID         string
	TaskGroupName string
	TaskName      string
}

// Bounds of actions.
const (
	maxActions    = 64       // of a task
	maxActionArgs = 256      // of an action
	maxActionText = 32 << 10 // bytes of an action's command and arguments
)

var actionName = regexp.MustCompile(`^[a-zA-Z0-9-]{1,128}$`)

func (t *Task) validateActions(c *complaints, at string) {
	if len(t.Actions) > maxActions {
		c.add("%s: action: %d actions: a task may have at most %d", at, len(t.Actions), maxActions)
		return
	}
	seen := map[string]bool{}
	for _, a := range t.Actions {
		if a == nil {
			c.add("%s: action: an entry is null: remove it", at)
			continue
		}
		if !actionName.MatchString(a.Name) {
			c.add("%s: action %q: a name must be 1 to 128 letters, digits and dashes", at, Printable(a.Name, 128))
			continue
		}
		if seen[a.Name] {
			c.add("%s: action %q: the task has two of this name: rename one", at, a.Name)
		}
		seen[a.Name] = true
		if a.Command == "" {
			c.add("%s: action %q: command is missing", at, a.Name)
		}
		size := len(a.Command)
		for _, arg := range a.Args {
			size += len(arg)
		}
		if len(a.Args) > maxActionArgs || size > maxActionText {
			c.add("%s: action %q: command and args may have at most %d arguments and %d bytes: put the text into a script", at, a.Name, maxActionArgs, maxActionText)
		}
	}
}
