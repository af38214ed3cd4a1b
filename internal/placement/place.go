// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

// Place finds a node for every request of the order that it can.
func Place(v *View, o *Order) *Outcome {
	return &Outcome{}
}
