// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// Reconcile works out what is to be done now about the evaluation's job. Job is
// its newest version; nil if it was purged.
func Reconcile(r Reader, job *api.Job, eval *api.Evaluation, now time.Time) *Result {
	return &Result{}
}
