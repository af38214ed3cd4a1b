// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"context"
	"slices"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/image/store"
)

// collectEvery is the time between two looks at the disk.
const collectEvery = time.Minute

// Keep looks after the store of images until ctx ends: it removes images whenever the disk is full.
func (d *Driver) Keep(ctx context.Context, claims driver.ImageClaims) {
	if d.images == nil {
		return
	}
	ticker := time.NewTicker(collectEvery)
	defer ticker.Stop()
	for {
		d.collect(ctx, claims)
		d.nextLook.Store(time.Now().Add(collectEvery).UnixNano())
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

// collect removes images if the disk is full. It asks the servers only then.
func (d *Driver) collect(ctx context.Context, claims driver.ImageClaims) {
	usage, err := d.images.Store.DiskUsage()
	if err == nil {
		hold := func(*store.Image) string { return "not asked" }
		removes := func(v store.Verdict) bool { return v.Removed && v.Image != nil }
		if slices.ContainsFunc(d.images.Store.Preview(d.cfg.Collection, usage, nil), removes) {
			hold = d.takeCensus(ctx, claims).hold
		}
		var verdicts []store.Verdict
		verdicts, err = d.images.Store.Collect(d.cfg.Collection, usage, hold)
		d.logRemoved(verdicts)
	}
	if err != nil {
		d.log.Warn("cannot collect images", "error", err)
	}
}

func (d *Driver) logRemoved(verdicts []store.Verdict) {
	for _, v := range verdicts {
		if v.Removed && v.Image != nil {
			d.log.Info("removed an image", "names", v.Image.Names, "digest", v.Image.Digest, "bytes", v.Frees, "reason", v.Reason)
		}
	}
}
