// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

//go:build planted_forward

package httpapi

// plantedRepeatedWrites lets a follower send a write to the leader twice. The harness of internal/jepsen must
// find this defect.
const plantedRepeatedWrites = true
