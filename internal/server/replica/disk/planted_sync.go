// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

//go:build faults && planted_sync

package disk

// plantedLostSyncs lets syncs return before the data is durable. The harness of internal/jepsen
// must find this defect.
const plantedLostSyncs = true
