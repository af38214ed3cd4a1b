// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package failpoint is a page of memory with which a test controls the clock and the disk of a
// running process. The harness of internal/jepsen writes the page; a binary that was built with the
// tag faults reads it. Other binaries do not contain this package.
package failpoint
