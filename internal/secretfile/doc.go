// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package secretfile reads and writes small files with secrets: tokens, keys and promises. A
// written file belongs to its owner only, and is replaced in one step, on disk before Write
// returns.
package secretfile
