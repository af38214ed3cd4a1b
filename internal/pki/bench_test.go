// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import "testing"

// BenchmarkSign measures what a leader does for a member that joins or renews.
func BenchmarkSign(b *testing.B) {
	a := must(NewAuthority(cluster, day))
	csr := newRequest()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Sign(csr, leafOf("n1", RoleNode), day); err != nil {
			b.Fatal(err)
		}
	}
}
