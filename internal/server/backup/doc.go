// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package backup saves snapshots of a server's state to a directory on a schedule, and deletes
// the oldest ones.
//
// The directory is the only memory of the schedule: names of files contain their time, so a
// server that restarts, or that begins to lead, continues where the files end.
//
// # Guarantees
//
//   - A file with the name of a snapshot is complete: it was synced, and read back against its
//     checksums, before it received its name.
//   - A failure, also a full disk, leaves no partial file and deletes no earlier one.
//   - Only files whose name says that this schedule wrote them are ever deleted.
package backup
