// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// Domains tells which domains are fresh.
type Domains interface {
	// Domain is nil if nobody ever marked it.
	Domain(name string) *api.Domain
}

// IsFresh reports whether the orphan's domain is fresh: that of its registered
// job if there is one, else the one that it brought along.
func IsFresh(d Domains, job *api.Job, orphan *api.Allocation, now time.Time) bool {
	return d.Domain(api.DomainOf(job, orphan)).IsFresh(now)
}
