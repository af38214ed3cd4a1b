// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package hostile is a file system in memory that is as bad as POSIX allows, for tests. A power
// failure loses unsynced data in part, in any order: writes by the block, names one by one. A
// failing sync loses its writes, and the next sync does not report that. Any call can be made
// to fail, to wait, or to be the last one before a crash.
package hostile
