// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !simfleet

package agent

// simulatedFleets is true in binaries for the simulation of large fleets: see docs/sim.md.
const simulatedFleets = false
