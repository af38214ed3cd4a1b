// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package remote lets the workers of every server process evaluations of the leader's broker.
//
// A Follower runs on a server that does not lead. It is the queue of that server's workers: it
// polls the leader for deliveries and submits their results. The Leader is its counterpart. It
// takes deliveries from the broker, but only those for which the leader has no idle worker, and
// passes results to the applier, which checks them like those of the leader's own workers.
//
// # Who owns a delivery
//
// The broker gives each job's delivery to one worker. The Leader gives it a token, and accepts
// a result only with the token and from the server that holds it. A server holds a delivery
// until it answers, and loses it in these cases:
//
//   - Its next poll does not name the token: the response with the delivery was lost, or a
//     worker gave up. The broker delivers the evaluation again immediately.
//   - Another process of the server polls: the server was restarted.
//   - The server has been silent for longer than silence. This counts as a failed attempt, because
//     the evaluation may be the cause.
//   - The broker's deadline for workers passes.
//
// A late answer has a token that is no longer known, and changes nothing. Should two workers
// evaluate a job at the same time nevertheless, the applier accepts only one result: see invariant
// 3 of package applier.
//
// A term of leadership has one Leader. Tokens are random, so those of an earlier term are unknown
// to the next.
//
// Placements and evaluations travel in the format of the log. Both sides treat every byte as
// foreign: the Leader decodes and checks a whole request before it acts on any part of it.
//
// To regenerate after a change of the schema, with protoc 3.21 (Debian: protobuf-compiler):
//
//	go generate ./internal/server/remote
package remote

//go:generate ../../../tools/protobuf.sh remote workers.proto
