// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

//go:build simfleet

package agent

// simulatedFleets lets the certificate of any member speak for every node, so that "reeve sim
// -links" needs few connections for a large fleet. A server with it trusts its nodes with each
// other's work: it is for simulations only.
const simulatedFleets = true
