// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package server wires a server together: the replicated state, and on the
// leader the broker, the workers, the applier and the controllers. Its verbs
// are everything that can be asked of a server; one file per noun.
//
// A verb checks what it is asked, proposes commands, and returns when they are
// durable and applied. Reading needs no verb: it goes to Store().Snapshot().
// Nothing in here may decide where or whether something runs; that is what
// packages plan and placement are for.
package server
