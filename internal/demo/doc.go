// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package demo fills an agent with a shop that a newcomer can explore: services that call each
// other, a canary that waits for an operator, a crash loop, a job without a place, a shift of
// traffic, a paused restart, and simulated nodes.
//
// The job files in jobs are ordinary job files; their services run the program in shop.go. Fill
// registers them and brings each to its state, over the API alone: what it does, a user can do.
// Shop and its traffic are for demonstrations only.
package demo
