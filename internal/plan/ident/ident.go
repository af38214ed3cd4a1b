// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package ident

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// Derive makes an identifier in UUID form from what it is about: deriving
// twice from the same gives the same.
func Derive(parts ...string) string {
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	h[6] = h[6]&0x0f | 0x80 // version 8: made by a method of one's own
	h[8] = h[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}
