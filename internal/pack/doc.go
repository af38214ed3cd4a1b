// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Command pack writes the release archives that need no package manager: a tarball, and a
// container image as a file. The same input gives the same bytes: every entry has the given
// time, the owner root and a fixed order. It neither builds a binary nor needs a daemon.
package main
