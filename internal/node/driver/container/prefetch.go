// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/image"
	"github.com/reeve-run/reeve/internal/node/image/layer"
	"github.com/reeve-run/reeve/internal/node/image/registry"
	"github.com/reeve-run/reeve/internal/node/image/store"
)

// prefetchOwner is the owner of the lease during a prefetch. No container has it, so Retain ends the lease of an agent
// that was killed.
const prefetchOwner = "prefetch"

// Prefetch pulls the image of a task before it starts. The image has no lease afterwards: the collection keeps it as
// long as the rollout may need it.
func (d *Driver) Prefetch(ctx context.Context, p *driver.Prefetch) error {
	config, problems := api.ParseContainerConfig(p.Config)
	if len(problems) > 0 {
		return &driver.SkipError{Reason: "config " + problems[0]}
	}
	return d.PrefetchConfig(ctx, p, config)
}

// PrefetchConfig is Prefetch with a parsed config block.
func (d *Driver) PrefetchConfig(ctx context.Context, p *driver.Prefetch, c *api.ContainerConfig) error {
	request, err := d.prefetchRequest(p, c)
	if err != nil {
		return err
	}
	found, err := d.images.Find(request)
	if err != nil || found != nil {
		return err // also an image of an earlier version or another job
	}
	puller := *d.images
	if puller.Limits, err = d.aheadLimits(); err != nil {
		return err
	}
	request.Admit = func(bytes int64) error {
		if bytes > puller.Limits.Bytes {
			return driver.ErrNoRoom
		}
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, c.PullTimeout)
	defer cancel()
	_, err = puller.Pull(bounded, request)
	if released := d.images.Store.Release(prefetchOwner); err == nil {
		err = released
	}
	var large *layer.LimitError
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case errors.As(err, &large):
		return &driver.SkipError{Reason: err.Error()}
	case errors.Is(err, driver.ErrNoRoom):
		return driver.ErrNoRoom
	}
	return pullError(bounded, c, err)
}

// aheadLimits returns the limits of an image that leaves the disk and the store below the limits of the collection. It
// returns ErrNoRoom if they are full.
func (d *Driver) aheadLimits() (layer.Limits, error) {
	usage, err := d.images.Store.DiskUsage()
	if err != nil {
		return layer.Limits{}, err
	}
	limits, p := cmp.Or(d.images.Limits, layer.DefaultLimits), d.cfg.Collection
	if usage.Total > 0 {
		limits.Bytes = min(limits.Bytes, int64(p.High*float64(usage.Total))-usage.Used)
	}
	if p.MaxBytes > 0 {
		limits.Bytes = min(limits.Bytes, p.MaxBytes-d.images.Store.Size())
	}
	if limits.Bytes <= 0 {
		return limits, driver.ErrNoRoom
	}
	return limits, nil
}

// prefetchRequest returns the request of a pull by digest.
func (d *Driver) prefetchRequest(p *driver.Prefetch, c *api.ContainerConfig) (request image.Request, err error) {
	skip := func(reason string) (image.Request, error) { return image.Request{}, &driver.SkipError{Reason: reason} }
	switch {
	case d.images == nil:
		return skip("the node keeps no images")
	case d.cfg.NoPrefetch:
		return skip("prefetch = false in client { container { } } of the agent's configuration")
	case strings.HasPrefix(c.Image, api.LayoutPrefix) || c.Load != "":
		return skip("the image comes from the task's files")
	}
	request = image.Request{Image: c.Image, Owner: prefetchOwner, Anonymous: c.AuthSoft}
	if a := c.Auth; a != nil && (a.Username != "" || a.Password != "") {
		if strings.Contains(a.Username+a.Password, "${") {
			return skip("the credentials for the registry are known when the task starts")
		}
		request.Login = &registry.Credentials{User: a.Username, Password: a.Password}
	}
	ref, err := registry.ParseReference(c.Image)
	if err != nil {
		return skip(fmt.Sprintf("config image: %v", err))
	}
	if ref.Tag != "" {
		hash, err := v1.NewHash(p.Digest)
		if err != nil {
			return skip("no instance has found the digest of the image yet")
		}
		ref = ref.Pin(hash)
		request.Image = ref.String()
	}
	version := p.JobVersion
	request.Use = []store.Use{{Namespace: p.Namespace, JobID: p.JobID, Digest: ref.Identifier(), Ahead: &version}}
	return request, nil
}
