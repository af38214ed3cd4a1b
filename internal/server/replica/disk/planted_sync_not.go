// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

//go:build faults && !planted_sync

package disk

// plantedLostSyncs is true in binaries with a planted defect: see internal/jepsen.
const plantedLostSyncs = false
