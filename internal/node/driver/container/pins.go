// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"context"
	"errors"
	"fmt"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/image"
	"github.com/reeve-run/reeve/internal/node/image/registry"
	"github.com/reeve-run/reeve/internal/node/image/store"
)

// pin replaces the tag of a request by the digest that all instances of the job's version run. It reports
// whether it did: a name with a digest needs no pin.
func (d *Driver) pin(ctx context.Context, t *driver.Task, c *api.ContainerConfig, request *image.Request) (bool, error) {
	if t.PinImage == nil {
		return false, nil
	}
	ref, err := registry.ParseReference(c.Image)
	if err != nil || ref.Tag == "" {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.PullTimeout)
	defer cancel()
	name, ok := t.Config["image"].(string) // as the servers know it; c.Image may be normalized
	if !ok {
		name = c.Image
	}
	digest, err := t.PinImage(ctx, name, func(ctx context.Context) (string, error) {
		found, err := d.images.Resolve(ctx, *request)
		if err != nil {
			return "", pullError(ctx, c, err)
		}
		return found.Digest.String(), nil
	})
	if err != nil {
		return false, err
	}
	hash, err := v1.NewHash(digest)
	if err != nil {
		return false, fmt.Errorf("config image %q: its pin is not valid: %w", c.Image, err)
	}
	request.Image = ref.Pin(hash).String()
	return true, nil
}

// pullError returns the error of a pull, which is recoverable if another attempt can succeed.
func pullError(ctx context.Context, c *api.ContainerConfig, err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded) || ctx.Err() == context.DeadlineExceeded:
		err = fmt.Errorf("pull %s: it took longer than %s: set image_pull_timeout to a longer time, or check the node's connection to the registry", c.Image, c.PullTimeout)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if isFinal(err) {
		return err
	}
	return &driver.RecoverableError{Err: err}
}

// goneError adds to the error of a pull what to do if the registry no longer has a pinned digest.
func goneError(c *api.ContainerConfig, pinned string, err error) error {
	var answered *registry.Error
	if !errors.As(err, &answered) || answered.Status != 404 {
		return err
	}
	return fmt.Errorf("config image %q: this version of the job is pinned to %s, which the registry does not have any longer: push it again, or change the image or meta of the job and register it again, so that a new version resolves the tag (%w)", c.Image, pinned, err)
}

// useOf names the job and allocation of a task as users of its image.
func useOf(t *driver.Task, pulled string) []store.Use {
	if t.JobID == "" {
		return nil
	}
	use := store.Use{Namespace: t.JobNamespace, JobID: t.JobID, Allocs: []string{t.AllocID}}
	if ref, err := registry.ParseReference(pulled); err == nil && ref.Tag == "" {
		use.Digest = ref.Identifier()
	}
	return []store.Use{use}
}

// shownImage names an image in messages: as the job does, with the digest of its pin.
func shownImage(name, pulled string) string {
	if _, digest, ok := strings.Cut(pulled, "@"); ok && !strings.Contains(name, "@") {
		return name + "@" + digest
	}
	return name
}
