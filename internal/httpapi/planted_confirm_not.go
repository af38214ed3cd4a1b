// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !planted_confirm

package httpapi

// plantedUnconfirmedReads is true in binaries with a planted defect: see internal/jepsen.
const plantedUnconfirmedReads = false
