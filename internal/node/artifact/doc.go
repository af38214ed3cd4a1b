// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package artifact fetches the artifacts of tasks and places them in the tasks' directories.
//
// Everything about an artifact is hostile: its author chooses the source, the server of the source
// chooses every byte, and the task that receives it changes its directory meanwhile. So three
// programs share the work:
//
//   - The fetching process downloads, verifies and unpacks. It runs as a user of its own, in
//     namespaces of its own, and sees programs, libraries, certificates and one empty
//     directory. Landlock confines it further.
//   - The Store keeps the result, if a checksum identifies it, for other allocations.
//   - The agent copies the result into the task's directory, by handles, and follows no link on
//     either side. Each task has a copy of its own.
package artifact
