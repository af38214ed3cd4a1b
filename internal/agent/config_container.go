// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/image/store"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
	"github.com/reeve-run/reeve/internal/node/supervise/oci"
)

// A fileContainer configures the driver "container".
type fileContainer struct {
	Runtime         string             `hcl:"runtime,optional"`
	AllowCaps       []string           `hcl:"allow_caps,optional"`
	AllowPrivileged bool               `hcl:"allow_privileged,optional"`
	Volumes         bool               `hcl:"volumes,optional"`
	PidsLimit       int64              `hcl:"pids_limit,optional"`
	ImageDir        string             `hcl:"image_dir,optional"`
	Insecure        []string           `hcl:"insecure_registries,optional"`
	Prefetch        *bool              `hcl:"prefetch,optional"`
	Auth            *fileContainerAuth `hcl:"auth,block"`
	Users           *fileUserNamespace `hcl:"user_namespace,block"`
	Images          *fileImages        `hcl:"image_gc,block"`
}

type fileContainerAuth struct {
	Config string `hcl:"config,optional"`
	Helper string `hcl:"helper,optional"`
}

type fileUserNamespace struct {
	Enabled *bool `hcl:"enabled,optional"`
	First   int64 `hcl:"first_id,optional"`
	Size    int64 `hcl:"ids,optional"`
}

type fileImages struct {
	High    float64 `hcl:"disk_high,optional"`
	Low     float64 `hcl:"disk_low,optional"`
	MaxSize int64   `hcl:"max_size_mb,optional"`
	Keep    string  `hcl:"image_delay,optional"`
}

func (f *fileContainer) merge(c *container.Config) error {
	override(&c.Runtime, f.Runtime)
	override(&c.AllowPrivileged, f.AllowPrivileged)
	override(&c.Volumes, f.Volumes)
	override(&c.MaxProcesses, f.PidsLimit)
	c.NoPrefetch = f.Prefetch != nil && !*f.Prefetch
	if f.AllowCaps != nil {
		c.AllowCaps = []string{}
		for _, name := range f.AllowCaps {
			known, err := isolate.CapabilityName(name)
			if name == "all" {
				known, err = "ALL", nil
			}
			if err != nil {
				return fmt.Errorf("allow_caps: %w", err)
			}
			c.AllowCaps = append(c.AllowCaps, known)
		}
	}
	if f.ImageDir != "" {
		if !filepath.IsAbs(f.ImageDir) {
			return fmt.Errorf("image_dir %q: must be an absolute path", f.ImageDir)
		}
		c.ImageDir = filepath.Clean(f.ImageDir)
	}
	if len(f.Insecure) > 0 {
		c.Insecure = f.Insecure
	}
	if a := f.Auth; a != nil {
		override(&c.AuthFile, a.Config)
		override(&c.AuthHelper, a.Helper)
	}
	if u := f.Users; u != nil {
		if err := u.merge(c); err != nil {
			return fmt.Errorf("user_namespace: %w", err)
		}
	}
	if g := f.Images; g != nil {
		if err := g.merge(c); err != nil {
			return fmt.Errorf("image_gc: %w", err)
		}
	}
	return nil
}

func (f *fileUserNamespace) merge(c *container.Config) error {
	c.HostUsers = f.Enabled != nil && !*f.Enabled
	ids := container.DefaultIDs()
	if f.First != 0 {
		ids.First = uint32(f.First)
	}
	if f.Size != 0 {
		ids.Size = uint32(f.Size)
	}
	if f.First < 0 || f.Size < 0 || f.Size > math.MaxUint32 || int64(ids.First)+int64(ids.Size) > math.MaxUint32 || f.First > math.MaxUint32 {
		return fmt.Errorf("first_id and ids must be a range of user ids below 4294967295, not %d and %d", f.First, f.Size)
	}
	if f.First > 0 && f.First < 1000 {
		return fmt.Errorf("first_id %d: the users below 1000 are the system's; choose a range that no user of the node has, such as 1073741824", f.First)
	}
	c.IDs = oci.IDs{First: ids.First, Size: ids.Size}
	return nil
}

func (f *fileImages) merge(c *container.Config) error {
	p := store.Policy{High: 0.85, Low: 0.75, Keep: 3 * time.Minute}
	override(&p.High, f.High)
	override(&p.Low, f.Low)
	if f.Keep != "" {
		keep, err := time.ParseDuration(f.Keep)
		if err != nil || keep < 0 {
			return fmt.Errorf("image_delay %q: must be a duration such as \"3m\"", f.Keep)
		}
		p.Keep = keep
	}
	if p.MaxBytes = f.MaxSize << 20; f.MaxSize < 0 {
		return fmt.Errorf("max_size_mb %d: must not be negative", f.MaxSize)
	}
	if p.Low <= 0 || p.High > 1 || p.Low > p.High {
		return fmt.Errorf("disk_low %v and disk_high %v: must be parts of the disk between 0 and 1, the first not above the second", p.Low, p.High)
	}
	c.Collection = p
	return nil
}
