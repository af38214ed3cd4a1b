// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

//go:build planted_lock

package server

// plantedSharedLocks gives some locks of variables to a second holder. The harness of internal/jepsen must
// find this defect.
const plantedSharedLocks = true
