// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

//go:build planted_confirm

package httpapi

// plantedUnconfirmedReads lets a leader answer reads without asking the others whether it still leads. The
// harness of internal/jepsen must find this defect.
const plantedUnconfirmedReads = true
