// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package network gives allocations their own networks, without plugins and without other
// programs: one namespace per allocation, a pair of links to the node's bridge, an address, and
// the ports of the node that lead to it.
//
// The record of an allocation in the node's ledger is the truth. Everything in the kernel is
// derived from the records: one table of rules that holds all ports and addresses, one link and
// one namespace per record. Reconcile removes everything without a record and restores
// missing parts, so an agent that was killed at any step leaves nothing behind.
//
// Allocations never exchange frames with each other: the bridge isolates its ports, and the node
// routes between them. So no allocation sees the frames of another one, and the rules of the
// node apply to all traffic.
package network
