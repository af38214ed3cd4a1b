// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// Domains finds domains.
type Domains interface {
	// Domain returns nil for a domain that was never marked fresh or stale.
	Domain(name string) *api.Domain
}

// IsFresh reports whether the orphan's domain is fresh: the domain of its registered
// job, or else the domain that the allocation itself names.
func IsFresh(d Domains, job *api.Job, orphan *api.Allocation, now time.Time) bool {
	return d.Domain(api.DomainOf(job, orphan)).IsFresh(now)
}
