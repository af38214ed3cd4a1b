// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// validateLogs checks that the output of the task fits onto the group's disk: each task by
// itself, as Nomad does.
func (t *Task) validateLogs(c *complaints, at string, disk *EphemeralDisk) {
	l := t.Logs
	if l == nil {
		return
	}
	if l.MaxFiles != nil && *l.MaxFiles < 1 {
		c.add("%s: logs: max_files %d: must be at least 1", at, *l.MaxFiles)
	}
	if l.MaxFileSizeMB != nil && *l.MaxFileSizeMB < 1 {
		c.add("%s: logs: max_file_size %d MB: must be at least 1", at, *l.MaxFileSizeMB)
	}
	if l.MaxFiles == nil || l.MaxFileSizeMB == nil || l.Disabled != nil && *l.Disabled || disk == nil || disk.SizeMB == nil {
		return
	}
	if *l.MaxFiles > 0 && *l.MaxFileSizeMB > *disk.SizeMB / *l.MaxFiles {
		c.add("%s: logs: %d files of %d MB are more than the %d MB of the group's ephemeral_disk: lower max_files or max_file_size, or raise its size",
			at, *l.MaxFiles, *l.MaxFileSizeMB, *disk.SizeMB)
	}
}
