// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !planted_forward

package httpapi

// plantedRepeatedWrites is true in binaries with a planted defect: see internal/jepsen.
const plantedRepeatedWrites = false
