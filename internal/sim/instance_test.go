// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"testing"
	"unsafe"
)

// TestAnInstanceIsSmall keeps simulations of millions of instances on one machine possible.
func TestAnInstanceIsSmall(t *testing.T) {
	const most = 112 // the size class of Go's allocator
	if size := unsafe.Sizeof(instance{}); size > most {
		t.Errorf("an instance takes %d bytes, more than %d", size, most)
	}
}
