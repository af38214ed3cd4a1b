// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package clitest holds the fixtures and golden files that tests of the command
// line's packages share.
package clitest

import "time"

// Now is the time of all fixtures.
var Now = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

// Ago returns the Unix time in nanoseconds at d before Now.
func Ago(d time.Duration) int64 { return Now.Add(-d).UnixNano() }

// Ids of fixtures.
const (
	EvalID  = "e1e1e1e1-0000-4000-8000-000000000000"
	BlockID = "b1b1b1b1-0000-4000-8000-000000000000"
	AllocID = "a1a1a1a1-0000-4000-8000-000000000000"
	OtherID = "a2a2a2a2-0000-4000-8000-000000000000"
	NodeID  = "d1d1d1d1-0000-4000-8000-000000000000"
	DeplID  = "c1c1c1c1-0000-4000-8000-000000000000"
)
