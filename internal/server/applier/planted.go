// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

//go:build planted_recheck

package applier

// plantedNoRecheck commits every placement without a check. The harness of internal/jepsen must
// find this defect.
const plantedNoRecheck = true
