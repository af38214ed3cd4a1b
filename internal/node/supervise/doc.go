// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package supervise owns the processes of a node's tasks, and their output.
//
// A data directory has one supervisor process. The agent starts it, and talks to it through
// a Client over a unix socket. It outlives the agent, so that an agent can crash, be killed
// or be replaced without an effect on tasks, and without the loss of an exit code or a line
// of output. Drivers use processes only through this package; a driver describes the
// process (Spec), never how to keep it.
//
// The supervisor knows nothing of jobs, allocations or restart policies, and reaches no
// network. It keeps kilobytes per task: no helper process, no thread, no buffer for a silent
// stream.
//
// A binary that uses this package must call Dispatch first in main: the supervisor, and the
// short-lived steps in front of an isolated task, are the same executable, started with
// hidden words. Steps do not reach main; see package step.
package supervise
