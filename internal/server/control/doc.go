// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package control holds the controllers: what the leader does of its own
// accord. Each is a function from a snapshot and the time to commands and the
// time to look again; one file each. The Runner (runner.go) calls them, for
// the objects that changed and when their time comes, and proposes what they
// return.
//
// A controller keeps no state that matters: whether there is something to do
// is read from the snapshot every time, so a new leader goes on where the old
// one stopped, and looking twice does nothing twice. A controller may not
// place, stop or update anything itself; it asks for an evaluation.
package control
