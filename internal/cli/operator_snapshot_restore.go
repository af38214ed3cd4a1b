// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"
	"strings"

	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
	"github.com/reeve-run/reeve/internal/snapshotfile"
)

func operatorSnapshotRestoreCommand(c *cli) *command {
	return &command{
		use:   "restore FILE",
		short: "Replace the servers' state with a snapshot",
		long: `Replace the state of all servers with a snapshot, also of another cluster.
Changes since the snapshot are lost. The cluster keeps its own certificate
authority, tokens, servers and excluded members. Running tasks continue:
allocations that the snapshot lacks become orphans (reeve operator orphans), and
no domain is fresh until it is marked again.`,
		example: "reeve operator snapshot verify backup.snap\nreeve operator snapshot restore -yes backup.snap",
		format:  true,
		strict:  true,
		confirm: func(r *call) (string, error) {
			return "Replace the state of all servers with " + r.arg(0) + "? Later changes are lost.", nil
		},
		run: func(r *call) error {
			f, err := openSnapshot(r.arg(0))
			if err != nil {
				return err
			}
			defer f.Close()
			if _, err := snapshotfile.Check(f); err != nil { // before it is sent
				return inFile(r.arg(0), err)
			}
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return fileError("read", r.arg(0), err)
			}
			answer, err := r.cl.Operator().RestoreSnapshot(r.ctx, f)
			if err != nil {
				return err
			}
			return r.show(answer, func(p *term.Page) {
				p.Line("Restored %s at index %d.", r.arg(0), answer.Index)
				if answer.Foreign {
					p.Line("The snapshot is of another cluster.")
				}
				if len(answer.Kept) > 0 {
					p.Line("Kept from this cluster: %s.", strings.Join(answer.Kept, ", "))
				}
				view.Snapshot(p, answer.Snapshot)
				next := "Allocations that the snapshot lacks:  reeve operator orphans\nMark domains as fresh again:          reeve domain fresh DOMAIN"
				if answer.Foreign {
					next += "\nOpen the variables of the snapshot:    reeve keyring recover"
				}
				p.Next(next)
			})
		},
	}
}
