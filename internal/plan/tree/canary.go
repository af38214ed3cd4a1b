// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"github.com/reeve-run/reeve/internal/plan/opt"
)

// IsMoving reports whether anything of the phase is under way, or to be begun
// now.
func (p *Phase) IsMoving() bool {
	for i := range p.Steps {
		if st := &p.Steps[i]; st.Next || st.Action == None && st.Blocked == None && st.Status != Complete && st.Status != Waiting {
			return true
		}
	}
	return false
}

// AreHealthy reports whether all of the phase's canaries wait for nothing but
// promotion.
func (p *Phase) AreHealthy() bool {
	for i := range p.Steps {
		if is := p.Steps[i].Status; is != Waiting && is != Complete {
			return false
		}
	}
	return true
}

// WaitsForPromotion reports whether the phase's canaries are healthy, and wait for an
// operator to promote them.
func (p *Phase) WaitsForPromotion() bool {
	return len(p.Steps) > 0 && p.AreHealthy() && !opt.Of(p.Group.Def.Update.AutoPromote)
}
