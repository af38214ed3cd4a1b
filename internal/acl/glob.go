// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import "strings"

// maxLabel bounds a label, in bytes.
const maxLabel = 256

// A glob is a label: a name, or a pattern whose asterisks stand for any text, also for an
// empty one and for slashes.
type glob struct {
	parts  []string // between the asterisks; a name has one
	length int      // of all parts, in bytes
}

func newGlob(label string) glob {
	g := glob{parts: strings.Split(label, "*")}
	for _, p := range g.parts {
		g.length += len(p)
	}
	return g
}

func (g *glob) isName() bool { return len(g.parts) == 1 }

// matches reports whether a name fits the pattern.
func (g *glob) matches(name string) bool {
	if len(name) < g.length {
		return false
	}
	last := len(g.parts) - 1
	if last == 0 {
		return name == g.parts[0]
	}
	if !strings.HasPrefix(name, g.parts[0]) || !strings.HasSuffix(name, g.parts[last]) {
		return false
	}
	name = name[len(g.parts[0]) : len(name)-len(g.parts[last])]
	for _, part := range g.parts[1:last] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return true
}

// rest returns how many characters of a matching name the asterisks stand for; less is more
// specific. A name's rest is -1: it beats every pattern, also one whose asterisks are empty.
func (g *glob) rest(name string) int {
	if g.isName() {
		return -1
	}
	return len(name) - g.length
}
