// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"github.com/reeve-run/reeve/internal/plan/reschedule"
)

// AttemptAt says when an instance that failed may be replaced: by its job's
// bound on rejections, or else by the reschedule policy.
func (f *Facts) AttemptAt(in *Instance) reschedule.Attempt {
	if a, rejected := reschedule.AfterRejection(f.Job, in.Alloc); rejected {
		return a
	}
	return reschedule.Next(f.Policy(in), in.Alloc, f.Now)
}
