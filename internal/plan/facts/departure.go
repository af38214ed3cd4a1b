// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"github.com/reeve-run/reeve/api"
)

// A Departure is an allocation that is no longer desired.
type Departure struct {
	Group  *Group
	Alloc  *api.Allocation
	Reason api.Reason // 0: it is stopping already, or the reason follows from its place
}
