// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !planted_lock

package server

// plantedSharedLocks is true in binaries with a planted defect: see internal/jepsen.
const plantedSharedLocks = false
