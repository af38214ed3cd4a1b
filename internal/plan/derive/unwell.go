// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
)

// whyUnwell is what is known to be wrong with an instance of the newest version,
// whose deployment failed; "" if nothing is.
func (d *deployer) whyUnwell(in *facts.Instance) string {
	a := in.Alloc
	switch in.State {
	case facts.Placed, facts.Running, facts.Failed, facts.Ended:
	default:
		return "" // its node is the trouble, and recovery's
	}
	switch {
	case d.HasCrashed(in):
		if c := a.Crashes; c != nil && c.Reason != "" {
			return api.Printable(c.Reason, facts.LongestMessage)
		}
		return cmp.Or(a.Rejection(), d.AttemptAt(in).Why, "it failed")
	case a.Serving != nil && len(a.Serving.Failing) > 0 && !a.IsClientTerminal():
		return facts.WhyFailing(a.Serving.Failing[0])
	case a.IsUnhealthy():
		return "it did not become healthy in time"
	}
	return ""
}
