// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package replica makes the store durable and, with several servers, equal on all of
// them: commands are proposed, written to a replicated log, and applied by every server in
// the log's order.
//
// It owns the server's data directory. It does not interpret commands: the store encodes,
// decodes and applies them.
package replica
