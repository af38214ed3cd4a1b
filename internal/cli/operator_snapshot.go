// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"io/fs"
	"os"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
	"github.com/reeve-run/reeve/internal/snapshotfile"
)

func operatorSnapshotCommand(c *cli) *command {
	return &command{
		use:   "snapshot",
		short: "Save and restore the servers' state",
		long: `A snapshot is a file with a copy of the servers' state: jobs, allocations,
nodes, stacks and everything else that servers store. It contains no data of
tasks. Secrets of the cluster are encrypted in it.`,
		verbs: []constructor{operatorSnapshotSaveCommand, operatorSnapshotRestoreCommand, operatorSnapshotInspectCommand, operatorSnapshotVerifyCommand},
	}
}

func operatorSnapshotInspectCommand(c *cli) *command {
	return &command{
		use:     "inspect FILE",
		short:   "Show the description of a snapshot",
		long:    "Show the description of a snapshot, and verify its checksums.",
		example: "reeve operator snapshot inspect backup.snap",
		format:  true,
		offline: true,
		run: func(r *call) error {
			f, err := openSnapshot(r.arg(0))
			if err != nil {
				return err
			}
			defer f.Close()
			meta, err := snapshotfile.Check(f)
			if err != nil {
				return inFile(r.arg(0), err)
			}
			return r.show(meta, func(p *term.Page) { view.Snapshot(p, meta) })
		},
	}
}

func operatorSnapshotVerifyCommand(c *cli) *command {
	return &command{
		use:   "verify FILE",
		short: "Verify that a snapshot can be restored",
		long: `Restore a snapshot into an empty state in memory, and compare the result with
the snapshot's description. The cluster does not change.`,
		example: "reeve operator snapshot verify backup.snap",
		format:  true,
		offline: true,
		run: func(r *call) error {
			f, err := openSnapshot(r.arg(0))
			if err != nil {
				return err
			}
			defer f.Close()
			meta, _, err := snapshotfile.Load(f)
			if err != nil {
				return inFile(r.arg(0), err)
			}
			return r.show(meta, func(p *term.Page) {
				p.Line("%s can be restored.", r.arg(0))
				view.Snapshot(p, meta)
			})
		},
	}
}

// openSnapshot opens a file for reading.
func openSnapshot(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError("open", path, err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, api.Errorf(api.CodeInvalid, "%s is a directory: name a file of reeve operator snapshot save", path)
	}
	return f, nil
}

// fileError names what cannot be done with a file.
func fileError(verb, path string, err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return api.Errorf(api.CodeInvalid, "cannot %s %s: %v", verb, path, err)
}

// inFile prefixes an error with the file that it is about.
func inFile(path string, err error) error {
	return api.Errorf(api.CodeOf(err), "%s: %v", path, err)
}
