// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

func override[T comparable](dst *T, v T) {
	var zero T
	if v != zero {
		*dst = v
	}
}

func fallback(dst *string, v string) {
	if *dst == "" {
		*dst = v
	}
}
