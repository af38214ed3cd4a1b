// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

//go:build planted

package httpapi

// plantedStaleReads answers every read with the data of the server that receives it. The harness of
// internal/jepsen must find this defect.
const plantedStaleReads = true
