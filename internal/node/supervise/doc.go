// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package supervise owns the processes of a node's tasks, and what they print.
//
// There is one supervisor process per data directory. The agent starts it, and
// talks to it through a Client over a unix socket; it outlives the agent, so
// that an agent can crash, be killed or be replaced without a task noticing,
// and without an exit code or a line of output getting lost. Everything a
// driver wants of a process goes through here; a driver says what to run
// (Spec), never how to keep it.
//
// The supervisor knows nothing of jobs, allocations or restart policies, and
// reaches no network. It keeps kilobytes per task: no helper process, no
// thread, no buffer for a silent stream.
//
// A binary that uses this package must call Dispatch first thing in main: the
// supervisor, and the short-lived steps in front of an isolated task, are the
// same executable, started again with hidden words.
package supervise
