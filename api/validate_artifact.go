// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"path"
	"strings"
)

// maxArtifacts bounds the artifacts of one task.
const maxArtifacts = 100

// validateArtifacts checks what is known before variables are replaced.
func (t *Task) validateArtifacts(c *complaints, at string) {
	if len(t.Artifacts) > maxArtifacts {
		c.add("%s: artifact: %d blocks; at most %d are allowed", at, len(t.Artifacts), maxArtifacts)
	}
	for _, a := range t.Artifacts {
		if a == nil {
			c.add("%s: artifact: a block is null", at)
			continue
		}
		if d := a.Destination; !strings.Contains(d, "${") && !isBelowTask(d) {
			c.add("%s: artifact: destination %q: must lie in the task's directory, such as local/", at, d)
		}
		if a.hasVariables() {
			continue
		}
		if _, err := ParseArtifact(a); err != nil {
			c.add("%s: artifact: %v", at, err)
		}
	}
}

// hasVariables reports whether the node replaces a part of the artifact.
func (a *Artifact) hasVariables() bool {
	texts := []string{a.Source, a.Mode}
	for k, v := range a.Options {
		texts = append(texts, k, v)
	}
	for k, v := range a.Headers {
		texts = append(texts, k, v)
	}
	for _, t := range texts {
		if strings.Contains(t, "${") {
			return true
		}
	}
	return false
}

// isBelowTask reports whether a destination is one of the task's directories. A leading slash means
// the task's root.
func isBelowTask(d string) bool {
	if strings.ContainsRune(d, 0) || len(d) > 4000 {
		return false
	}
	clean := path.Clean(strings.TrimLeft(d, "/"))
	return clean != ".." && !strings.HasPrefix(clean, "../")
}
