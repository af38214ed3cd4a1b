// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"context"
	"time"
)

// collectEvery is the time between two looks at the disk.
const collectEvery = time.Minute

// Keep looks after the store of images until ctx ends: it ends the leases of containers that no
// longer exist, and then removes images whenever the disk is full.
func (d *Driver) Keep(ctx context.Context) {
	if d.images == nil {
		return
	}
	ticker := time.NewTicker(collectEvery)
	defer ticker.Stop()
	for {
		d.collect()
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// Retain ends the leases of containers that the supervisor does not know. The agent calls it
// before it starts a task.
func (d *Driver) Retain(ctx context.Context) error {
	if d.images == nil {
		return nil
	}
	kept, err := d.c.Kept(ctx)
	if err != nil {
		return err
	}
	return d.images.Store.Retain(func(owner string) bool { return contains(kept, owner) })
}

func (d *Driver) collect() {
	usage, err := d.images.Store.DiskUsage()
	if err == nil {
		verdicts, collectErr := d.images.Store.Collect(d.cfg.Collection, usage)
		for _, v := range verdicts {
			if v.Removed && v.Image != nil {
				d.log.Info("removed an image", "names", v.Image.Names, "digest", v.Image.Digest, "bytes", v.Frees, "reason", v.Reason)
			}
		}
		err = collectErr
	}
	if err != nil {
		d.log.Warn("cannot collect images", "error", err)
	}
}
