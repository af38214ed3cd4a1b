// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"

	"github.com/reeve-run/reeve/api"
)

// Destructive reports whether an instance of the old version's group must be
// replaced to have the new version's; otherwise it is updated in place.
func Destructive(oldJob *api.Job, old *api.Group, newJob *api.Job, new *api.Group) bool {
	return !reflect.DeepEqual(old, new)
}
