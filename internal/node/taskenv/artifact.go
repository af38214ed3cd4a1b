// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package taskenv

import "github.com/reeve-run/reeve/api"

// ReplaceArtifact returns a copy of an artifact with all variables replaced.
func (e *Env) ReplaceArtifact(a *api.Artifact) *api.Artifact {
	c := *a
	c.Source = e.Replace(a.Source)
	c.Mode = e.Replace(a.Mode)
	c.Destination = e.Replace(a.Destination)
	c.Options = e.replaceMap(a.Options)
	c.Headers = e.replaceMap(a.Headers)
	return &c
}
