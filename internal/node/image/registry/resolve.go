// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"context"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Bounds of an image's description.
const (
	maxNesting     = 3       // indexes inside of indexes
	maxIndexes     = 20      // indexes that one image can make the node read
	maxImageConfig = 4 << 20 // configuration, in bytes
	maxLayers      = 500     // lower directories that overlayfs stacks
)

// An Image is an image for one platform, as a source describes it. All its digests are
// verified but those of its layers.
type Image struct {
	Digest   v1.Hash
	Platform v1.Platform
	Config   []byte // text of the configuration
	Layers   []v1.Descriptor
	DiffIDs  []v1.Hash // digests of the layers' archives, in the same order
}

// Select finds the manifest for a platform behind a tag or digest.
func Select(ctx context.Context, s Source, id string, want v1.Platform) (Manifest, error) {
	reads := 0
	m, offered, err := search(ctx, s, id, want, 0, &reads)
	if err == nil && m == nil {
		err = fatal("the image has no variant for %s, only for: %s", platformName(want), offered)
	}
	if err != nil {
		return Manifest{}, err
	}
	return *m, nil
}

// search returns nil and the offered platforms if an index has no image for the platform.
func search(ctx context.Context, s Source, id string, want v1.Platform, depth int, reads *int) (*Manifest, string, error) {
	if *reads++; depth > maxNesting || *reads > maxIndexes {
		return nil, "", fatal("the image's index leads to more than %d others, or %d deep", maxIndexes, maxNesting)
	}
	m, err := s.Manifest(ctx, id)
	if err != nil || m.MediaType.IsImage() {
		return &m, "", err
	}
	if !m.MediaType.IsIndex() {
		return nil, "", fatal("%.100q is not an image", string(m.MediaType))
	}
	index, err := v1.ParseIndexManifest(bytes.NewReader(m.Text))
	if err != nil {
		return nil, "", fatal("the image's index is not valid: %v", err)
	}
	best, nested := choose(index.Manifests, want)
	if best == nil && len(index.Manifests) == 1 && len(nested) == 0 && index.Manifests[0].Platform == nil {
		best = &index.Manifests[0] // usual in layouts; the configuration names the platform
	}
	if best != nil {
		return search(ctx, s, best.Digest.String(), want, depth+1, reads)
	}
	for _, i := range nested {
		found, _, err := search(ctx, s, index.Manifests[i].Digest.String(), want, depth+1, reads)
		if err != nil || found != nil {
			return found, "", err
		}
	}
	return nil, platforms(index.Manifests), nil
}

// Describe reads the configuration that a manifest names, and checks that both agree.
func Describe(ctx context.Context, s Source, m Manifest, want v1.Platform) (*Image, error) {
	manifest, err := v1.ParseManifest(bytes.NewReader(m.Text))
	if err != nil {
		return nil, fatal("the image's manifest is not valid: %v", err)
	}
	if n := len(manifest.Layers); n > maxLayers {
		return nil, fatal("the image has %d layers, more than %d: squash it", n, maxLayers)
	}
	text, err := ReadBlob(ctx, s, manifest.Config, maxImageConfig)
	if err != nil {
		return nil, err
	}
	config, err := v1.ParseConfigFile(bytes.NewReader(text))
	if err != nil {
		return nil, fatal("the image's configuration is not valid: %v", err)
	}
	if have, layers := len(config.RootFS.DiffIDs), len(manifest.Layers); have != layers {
		return nil, fatal("the image's manifest has %d layers and its configuration %d: it is another kind of artifact, or was built wrongly", layers, have)
	}
	platform := v1.Platform{OS: config.OS, Architecture: config.Architecture, Variant: config.Variant}
	if config.Architecture != "" && rank(want, platform) < 0 {
		return nil, fatal("the image is for %s, and the node runs %s", platformName(platform), platformName(want))
	}
	for _, l := range manifest.Layers {
		if l.Size < 0 || l.Size > 1<<50 {
			return nil, fatal("the image's layer %s has the size %d", l.Digest, l.Size)
		}
	}
	return &Image{Digest: m.Digest, Platform: want, Config: text, Layers: manifest.Layers, DiffIDs: config.RootFS.DiffIDs}, nil
}
