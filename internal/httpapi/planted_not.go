// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !planted

package httpapi

// plantedStaleReads is true in binaries with a planted defect: see internal/jepsen.
const plantedStaleReads = false
