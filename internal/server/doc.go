// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package server wires a server together: the replicated state, and on the
// leader the broker, the workers, the applier and the controllers. Its verbs
// are everything that can be asked of a server; one file per noun.
//
// A verb validates its request, proposes commands, and returns when they are durable and
// applied. Reads need no verb: they use Store().Snapshot(). This package must not decide where
// or whether an instance runs; that is the task of packages plan and placement.
package server
