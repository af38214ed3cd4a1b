// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Annotations with the name of an image in an index.
const (
	fullName  = "io.containerd.image.name"          // such as docker.io/library/app:1
	shortName = "org.opencontainers.image.ref.name" // such as 1, or a full name
)

// fromIndex returns the index of a layout without the images of other names.
func (a *Archive) fromIndex() (Manifest, error) {
	text, err := a.text("index.json", maxManifest)
	if err != nil {
		return Manifest{}, err
	}
	index, err := v1.ParseIndexManifest(bytes.NewReader(text))
	if err != nil {
		return Manifest{}, fatal("index.json of the archive is not valid: %v", err)
	}
	var found []v1.Descriptor
	var names []string
	for _, d := range index.Manifests {
		name := d.Annotations[fullName]
		if name == "" {
			name = d.Annotations[shortName]
		}
		switch {
		case a.want.Tag == "" && d.Digest == a.want.Digest:
			found = append(found, d)
		case name == "":
		case a.means(name) || d.Annotations[fullName] == "" && a.want.Tag != "" && name == a.want.Tag:
			found = append(found, d)
		default:
			names = append(names, name)
		}
	}
	if len(found) == 0 && len(names) == 0 && len(index.Manifests) == 1 {
		found = index.Manifests // an archive of one image needs no name
	}
	if len(found) == 0 {
		return Manifest{}, a.noSuchImage(names)
	}
	text, err = json.Marshal(&v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: found})
	if err != nil {
		return Manifest{}, err
	}
	return checkManifest(text, types.OCIImageIndex, "")
}

// fromTable makes the manifest of an image in an archive without a layout. Such an archive names no
// digests but those in the image's configuration.
func (a *Archive) fromTable(ctx context.Context) (Manifest, error) {
	text, err := a.text("manifest.json", maxManifest)
	if err != nil {
		return Manifest{}, err
	}
	type image struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	var table []image
	if err := json.Unmarshal(text, &table); err != nil {
		return Manifest{}, fatal("manifest.json of the archive is not valid: %v", err)
	}
	var found *image
	var names []string
	for n, i := range table {
		for _, name := range i.RepoTags {
			if a.means(name) {
				found = &table[n]
			}
			names = append(names, name)
		}
	}
	if found == nil && len(names) == 0 && len(table) == 1 {
		found = &table[0]
	}
	if found == nil {
		return Manifest{}, a.noSuchImage(names)
	}
	return a.makeManifest(ctx, found.Config, found.Layers)
}

func (a *Archive) makeManifest(ctx context.Context, config string, layers []string) (Manifest, error) {
	if len(layers) > maxLayers {
		return Manifest{}, fatal("the image has %d layers, more than %d: squash it", len(layers), maxLayers)
	}
	text, err := a.text(config, maxImageConfig)
	if err != nil {
		return Manifest{}, err
	}
	described, err := v1.ParseConfigFile(bytes.NewReader(text))
	if err != nil {
		return Manifest{}, fatal("the image's configuration is not valid: %v", err)
	}
	if have := len(described.RootFS.DiffIDs); have != len(layers) {
		return Manifest{}, fatal("the archive has %d layers and the image's configuration %d: write it again", len(layers), have)
	}
	a.layers = map[v1.Hash]entry{}
	m := v1.Manifest{SchemaVersion: 2, MediaType: types.DockerManifestSchema2}
	m.Config = v1.Descriptor{MediaType: types.DockerConfigJSON, Digest: hashOf(text), Size: int64(len(text))}
	a.layers[m.Config.Digest], _ = a.find(config)
	for n, name := range layers {
		e, ok := a.find(name)
		if !ok {
			return Manifest{}, fatal("the archive has no file %.200q, which its table names: write it again", name)
		}
		digest, err := a.digest(ctx, e, described.RootFS.DiffIDs[n])
		if err != nil {
			return Manifest{}, err
		}
		a.layers[digest] = e
		m.Layers = append(m.Layers, v1.Descriptor{MediaType: types.DockerLayer, Digest: digest, Size: e.size})
	}
	if text, err = json.Marshal(m); err != nil {
		return Manifest{}, err
	}
	return checkManifest(text, types.DockerManifestSchema2, "")
}

// digest returns the digest of a layer's blob. That of an uncompressed one is in the configuration; the
// unpacker verifies it.
func (a *Archive) digest(ctx context.Context, e entry, diffID v1.Hash) (v1.Hash, error) {
	var start [4]byte
	n, err := a.file.ReadAt(start[:min(4, e.size)], e.at)
	if err != nil && err != io.EOF {
		return v1.Hash{}, err
	}
	if !isCompressed(start[:n]) {
		return diffID, nil
	}
	h, r := sha256.New(), a.open(e)
	for {
		if _, err := io.CopyN(h, r, 1<<20); err == io.EOF {
			return v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(h.Sum(nil))}, nil
		} else if err != nil {
			return v1.Hash{}, err
		}
		if ctx.Err() != nil {
			return v1.Hash{}, ctx.Err()
		}
	}
}

// isCompressed reports whether a file begins as those of gzip or zstd.
func isCompressed(start []byte) bool {
	return bytes.HasPrefix(start, []byte{0x1f, 0x8b}) || bytes.HasPrefix(start, []byte{0x28, 0xb5, 0x2f, 0xfd})
}
