// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package image brings images to a node: it resolves their names, pulls and verifies them, and
// records them in the node's store with a lease of their user. It starts no container.
package image
