// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
	"github.com/reeve-run/reeve/internal/snapshotfile"
)

func operatorSnapshotSaveCommand(c *cli) *command {
	var stale bool
	return &command{
		use:   "save FILE",
		short: "Save a snapshot of the servers' state",
		long: `Save a snapshot of the servers' state to a file, and verify it. A file of that
name is replaced only by a complete snapshot.`,
		example: "reeve operator snapshot save backup.snap",
		format:  true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&stale, "stale", false, "let any server answer, also without a leader")
		},
		run: func(r *call) error {
			meta, err := r.saveSnapshot(r.arg(0), stale)
			if err != nil {
				return err
			}
			return r.show(meta, func(p *term.Page) {
				p.Line("Saved a snapshot to %s.", r.arg(0))
				view.Snapshot(p, meta)
			})
		},
	}
}

// saveSnapshot writes a snapshot to a temporary file beside path, and renames it when it is
// complete.
func (r *call) saveSnapshot(path string, stale bool) (meta *api.Snapshot, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*.tmp")
	if err != nil {
		return nil, fileError("create a file in", filepath.Dir(path), err)
	}
	defer func() {
		f.Close()
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	body, err := r.cl.Operator().SaveSnapshot(r.ctx, stale)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if _, err := io.Copy(f, body); err != nil {
		if e := (*api.Error)(nil); errors.As(err, &e) {
			return nil, err
		}
		return nil, api.Errorf(api.CodeUnavailable, "cannot save the snapshot to %s: %v; nothing was written", path, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fileError("read", path, err)
	}
	if meta, err = snapshotfile.Check(f); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, fileError("write", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return nil, fileError("write", path, err)
	}
	return meta, nil
}
