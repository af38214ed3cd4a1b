// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package hostile is a file system in memory that is as bad as POSIX allows, for
// tests. What was not synced survives a power failure in part, in any order:
// writes by the block, names one by one. A sync that fails loses what it was to
// write, and the next one does not know of it. Any call can be made to fail, to
// wait, or to be the last one before a crash.
package hostile
