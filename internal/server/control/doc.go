// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package control holds the controllers, which act for the leader. Each is a function from a
// snapshot and the time to commands and the time of its next call; each has its own file. The
// Runner (runner.go) calls them for changed objects and at their times, and proposes their
// commands.
//
// A controller keeps no relevant state: it reads its work from the snapshot every time, so a
// new leader continues where the old one stopped, and a repeated call changes nothing. A
// controller must not place, stop or update instances itself; it requests an evaluation.
package control
