// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// IsCustom reports whether the job declares the plan for operators to start.
func IsCustom(job *api.Job, name string) bool {
	return job != nil && name != api.PlanDeploy && slices.ContainsFunc(job.Plans, func(p *api.PlanSpec) bool { return p.Name == name })
}
