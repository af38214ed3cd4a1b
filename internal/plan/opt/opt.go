// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package opt

func IsTrue(p *bool) bool { return p != nil && *p }

func Of[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
