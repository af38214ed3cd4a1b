// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"encoding/json"
	"fmt"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/reeve-run/reeve/internal/node/image/store"
)

// An imageRoot is an image on this node.
type imageRoot struct {
	config v1.Config
	layers []string // directories, the lowest one first, each once
}

func readImage(i *store.Image, s *store.Store) (*imageRoot, error) {
	var file v1.ConfigFile
	if err := json.Unmarshal(i.Config, &file); err != nil {
		return nil, fmt.Errorf("read the configuration of the image %s: %w", i.Digest, err)
	}
	img := &imageRoot{config: file.Config}
	// A layer that an image contains twice hides its lower copy, and overlayfs rejects it.
	seen := map[v1.Hash]bool{}
	for _, l := range slices.Backward(i.Layers) {
		if !seen[l.DiffID] {
			seen[l.DiffID] = true
			img.layers = append(img.layers, s.LayerPath(l.DiffID))
		}
	}
	slices.Reverse(img.layers)
	return img, nil
}
