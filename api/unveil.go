// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"path"
	"strings"
)

// NodeAttrLandlock is the attribute of nodes with the version of the kernel's Landlock, such as "v7", or
// LandlockUnavailable. Agents that cannot confine tasks with it do not publish it.
const NodeAttrLandlock = "kernel.landlock"

// LandlockUnavailable is the value of NodeAttrLandlock on kernels without Landlock.
const LandlockUnavailable = "unavailable"

// Limits of the paths of one task.
const (
	maxUnveil     = 256
	maxUnveilText = 4096
)

// An Unveil is an entry of the key unveil of driver exec: a path that the task may use besides its own
// files, with the modes r (read), w (write), x (execute) and c (create and remove).
type Unveil struct {
	Modes string
	Path  string
}

// ParseUnveil parses the entries of a task, such as "rw:/srv/data". An error is about the entry that it
// quotes. Entries with ${...} are checked only by the node, which replaces that.
func ParseUnveil(v any) ([]Unveil, error) {
	if !kindStrings.matches(v) {
		return nil, fmt.Errorf("must be %s, such as [\"r:/etc/ssl\"], not %.64q", kindStrings, fmt.Sprint(v))
	}
	var texts []string
	switch list := v.(type) {
	case []string:
		texts = list
	case []any:
		for _, e := range list {
			texts = append(texts, e.(string))
		}
	}
	if len(texts) > maxUnveil {
		return nil, fmt.Errorf("has %d entries, and may have %d: name a directory instead of its files", len(texts), maxUnveil)
	}
	var all []Unveil
	for i, text := range texts {
		if problem := unveilProblem(text); problem != "" {
			return nil, fmt.Errorf("entry %d, %.100q: %s", i+1, text, problem)
		}
		modes, p, _ := strings.Cut(text, ":")
		all = append(all, Unveil{modes, p})
	}
	return all, nil
}

func unveilProblem(text string) string {
	if len(text) > maxUnveilText {
		return fmt.Sprintf("it has more than %d bytes", maxUnveilText)
	}
	if isOpen(text) {
		return ""
	}
	modes, p, ok := strings.Cut(text, ":")
	switch {
	case !ok || modes == "":
		return "write the modes before the path, such as \"r:/etc/ssl\"; modes are r (read), w (write), x (execute) and c (create)"
	case strings.Trim(modes, "rwxc") != "":
		return fmt.Sprintf("%.16q has an unknown mode; modes are r (read), w (write), x (execute) and c (create)", modes)
	case hasDouble(modes):
		return fmt.Sprintf("%.16q has a mode twice", modes)
	case p == "":
		return "the path is missing"
	case !strings.HasPrefix(p, "/"):
		return "the path must be absolute, as the task sees it, such as /local/data"
	case strings.ContainsRune(p, 0):
		return "the path contains a zero byte"
	case path.Clean(p) != p:
		return fmt.Sprintf("write the path without \"..\", \".\" and double or final slashes: %.100q", path.Clean(p))
	}
	return ""
}

func hasDouble(modes string) bool {
	for i, m := range modes {
		if strings.ContainsRune(modes[:i], m) {
			return true
		}
	}
	return false
}

// Unveils reports whether a task is confined to the paths of its key unveil.
func Unveils(t *Task) bool {
	_, ok := t.Config["unveil"]
	return ok && t.Driver == DriverExec
}

// UnveilMismatch returns why a node cannot confine the task to its paths; "" if it can, or need not.
func UnveilMismatch(n *Node, t *Task) string {
	if !Unveils(t) {
		return ""
	}
	switch n.Attributes[NodeAttrLandlock] {
	case "":
		return "unveil of task " + t.Name + " needs a node whose agent supports it: upgrade the node's agent"
	case LandlockUnavailable:
		return "unveil of task " + t.Name + " needs Landlock, which the node's kernel lacks: use Linux 5.13 or later, with landlock in lsm= on the command line of the kernel"
	}
	return ""
}
