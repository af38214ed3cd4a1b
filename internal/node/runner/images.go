// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// PinImage returns the digest that a task of an allocation runs of an image: the one of the version's
// first instance. resolve finds the digest behind the tag, and is called if no instance was first.
func (h *Host) PinImage(ctx context.Context, alloc, task, image string, resolve func(context.Context) (string, error)) (digest string, pinned bool, err error) {
	r := &api.ImagePinRequest{AllocID: alloc, Task: task, Image: image}
	answer, err := h.askPin(ctx, r)
	if err != nil {
		return "", false, err
	}
	if answer.Digest == "" {
		if r.Digest, err = resolve(ctx); err != nil {
			return "", false, err
		}
		if answer, err = h.askPin(ctx, r); err != nil {
			return "", false, err
		}
	}
	if !api.IsImageDigest(answer.Digest) {
		return "", false, fmt.Errorf("the servers pin image %q to %.80q, which is not a digest", image, answer.Digest)
	}
	return answer.Digest, answer.Pinned, nil
}

func (h *Host) askPin(ctx context.Context, r *api.ImagePinRequest) (*api.ImagePinResponse, error) {
	answer, err := h.Pin(ctx, r)
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		err = &driver.RecoverableError{Err: fmt.Errorf("ask the servers which digest of image %q this version of the job runs: %w", r.Image, err)}
	}
	return answer, err
}

// pinImage returns the function by which a driver pins the images of the task; nil if images are not
// pinned. An allocation keeps its digests: a restart asks nothing, and works without servers.
func (t *task) pinImage(alloc string) func(context.Context, string, func(context.Context) (string, error)) (string, error) {
	h := t.r.host
	if h.Pin == nil {
		return nil
	}
	return func(ctx context.Context, image string, resolve func(context.Context) (string, error)) (string, error) {
		t.r.mu.Lock()
		known := t.images[image]
		t.r.mu.Unlock()
		if known != "" {
			return known, nil
		}
		digest, pinned, err := h.PinImage(ctx, alloc, t.name, image, resolve)
		if err != nil || !pinned {
			return digest, err
		}
		t.r.mu.Lock()
		defer t.r.mu.Unlock()
		images := maps.Clone(t.images)
		if images == nil {
			images = map[string]string{}
		}
		images[image] = digest
		t.images = images
		t.r.save()
		return digest, nil
	}
}
