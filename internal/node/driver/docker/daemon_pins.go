// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"errors"
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/docker/engine"
	"github.com/reeve-run/reeve/internal/node/image/registry"
)

// errLocal is the result of the question for the digest of an image that no registry gave to the daemon: it
// was built or loaded there.
var errLocal = errors.New("the image has no digest: it is the daemon's own")

// A named image is one that the daemon gets by its name.
type named struct {
	ref    registry.Reference
	shown  string // in messages: as the job names it, with the digest of its pin
	pinned bool
}

// pin finds the digest that all instances of the job's version run. The daemon's own images have none: they
// keep their name. resolve asks the registry.
func (d *daemon) pin(ctx context.Context, t *driver.Task, c *api.ContainerConfig, ref registry.Reference, resolve func(context.Context) (string, error)) (named, error) {
	n := named{ref: ref, shown: c.Image}
	if t.PinImage == nil || ref.Tag == "" {
		return n, nil
	}
	have := ""
	local, err := d.c.Image(ctx, c.Image)
	if err == nil {
		have = digestIn(local.RepoDigests, ref)
	} else if !engine.IsMissing(err) {
		return n, err
	}
	ask := local == nil || c.ForcePull || ref.Tag == "latest"
	name, ok := t.Config["image"].(string) // as the servers know it
	if !ok {
		name = c.Image
	}
	bounded, cancel := context.WithTimeout(ctx, c.PullTimeout)
	defer cancel()
	digest, err := t.PinImage(bounded, name, func(ctx context.Context) (string, error) {
		switch {
		case ask:
			digest, err := resolve(ctx)
			if err != nil {
				return "", fmt.Errorf("find the digest of %s: %w", c.Image, err)
			}
			return digest, nil
		case have == "":
			return "", errLocal
		}
		return have, nil
	})
	switch {
	case ctx.Err() != nil:
		return n, ctx.Err()
	case err != nil && !ask && have == "":
		return n, nil // without servers, too: the daemon has no other image of the name
	case err != nil:
		return n, err
	case !api.IsImageDigest(digest):
		return n, fmt.Errorf("config image %q: its pin %.80q is not a digest", c.Image, digest)
	}
	pinned, err := registry.ParseReference(ref.Name() + "@" + digest)
	if err != nil {
		return n, fmt.Errorf("config image: %w", err)
	}
	return named{ref: pinned, shown: c.Image + "@" + digest, pinned: true}, nil
}

// digestIn returns the digest that an image has in a repository; "" if it has none.
func digestIn(list []string, ref registry.Reference) string {
	for _, name := range list {
		if known, err := registry.ParseReference(name); err == nil && known.Tag == "" && known.Name() == ref.Name() {
			return known.Digest.String()
		}
	}
	return ""
}

// goneError adds to the error of a pull what to do if the registry no longer has a pinned digest.
func (n named) goneError(err error) error {
	if !n.pinned || !engine.IsMissing(err) {
		return err
	}
	return fmt.Errorf("config image: this version of the job is pinned to %s, which the registry does not have any longer: push it again, or change the image or meta of the job and register it again, so that a new version resolves the tag (%w)", n.ref, err)
}
