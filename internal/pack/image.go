// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// Media types of the OCI image specification.
const (
	mediaManifest = "application/vnd.oci.image.manifest.v1+json"
	mediaConfig   = "application/vnd.oci.image.config.v1+json"
	mediaLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
	mediaIndex    = "application/vnd.oci.image.index.v1+json"
)

// A descriptor refers to a blob of an OCI layout.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// A layout collects the blobs of an image.
type layout struct{ blobs []entry }

func (l *layout) add(mediaType string, data []byte) descriptor {
	sum := fmt.Sprintf("%x", sha256.Sum256(data))
	l.blobs = append(l.blobs, entry{name: "blobs/sha256/" + sum, mode: 0o644, data: data})
	return descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(data)}
}

func (l *layout) addJSON(mediaType string, v any) (descriptor, error) {
	data, err := json.Marshal(v)
	return l.add(mediaType, data), err
}

// writeImage writes an image with the binary alone, as an OCI layout in a tar archive. The
// additional file manifest.json lets "docker load" of all versions read it.
func (r release) writeImage(w io.Writer) error {
	root, err := r.imageRoot()
	if err != nil {
		return err
	}
	var layer bytes.Buffer
	z := gzip.NewWriter(&layer)
	if _, err = z.Write(root); err == nil {
		err = z.Close()
	}
	if err != nil {
		return err
	}
	var l layout
	layerBlob := l.add(mediaLayer, layer.Bytes())
	config, err := l.addJSON(mediaConfig, r.imageConfig(fmt.Sprintf("sha256:%x", sha256.Sum256(root))))
	if err != nil {
		return err
	}
	manifest, err := l.addJSON(mediaManifest, map[string]any{
		"schemaVersion": 2, "mediaType": mediaManifest, "config": config, "layers": []descriptor{layerBlob},
	})
	if err != nil {
		return err
	}
	manifest.Annotations = map[string]string{"org.opencontainers.image.ref.name": r.version}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": mediaIndex, "manifests": []descriptor{manifest}})
	if err != nil {
		return err
	}
	docker, err := json.Marshal([]any{map[string]any{
		"Config": blobPath(config), "RepoTags": []string{"reeve:" + r.version}, "Layers": []string{blobPath(layerBlob)},
	}})
	if err != nil {
		return err
	}
	entries := []entry{
		{name: "blobs/", mode: 0o755}, {name: "blobs/sha256/", mode: 0o755},
		{name: "index.json", mode: 0o644, data: index},
		{name: "manifest.json", mode: 0o644, data: docker},
		{name: "oci-layout", mode: 0o644, data: []byte(`{"imageLayoutVersion":"1.0.0"}`)},
	}
	return writeEntries(w, r.time, append(entries, l.blobs...))
}

func blobPath(d descriptor) string { return "blobs/sha256/" + d.Digest[len("sha256:"):] }

// imageRoot returns the root directory of the image as a tar archive.
func (r release) imageRoot() ([]byte, error) {
	binary, err := os.ReadFile(r.binary)
	if err != nil {
		return nil, err
	}
	licence, err := os.ReadFile(r.source + "/LICENSE")
	if err != nil {
		return nil, err
	}
	var root bytes.Buffer
	err = writeEntries(&root, r.time, []entry{
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, data: []byte("root:x:0:\nnogroup:x:65534:\n")},
		{name: "etc/passwd", mode: 0o644, data: []byte("root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n")},
		{name: "licenses/", mode: 0o755},
		{name: "licenses/reeve", mode: 0o644, data: licence},
		{name: "tmp/", mode: 0o1777},
		{name: "usr/", mode: 0o755},
		{name: "usr/bin/", mode: 0o755},
		{name: "usr/bin/reeve", mode: 0o755, data: binary},
		{name: "var/", mode: 0o755},
		{name: "var/lib/", mode: 0o755},
		{name: "var/lib/reeve/", mode: 0o700},
	})
	return root.Bytes(), err
}

// imageConfig returns the configuration of containers of the image.
func (r release) imageConfig(layer string) any {
	return map[string]any{
		"created": r.time.Format(time.RFC3339), "architecture": r.arch, "os": "linux",
		"config": map[string]any{
			"Entrypoint":   []string{"/usr/bin/reeve"},
			"Cmd":          []string{"help"},
			"Env":          []string{"PATH=/usr/bin"},
			"ExposedPorts": map[string]any{"4646/tcp": struct{}{}},
			"Volumes":      map[string]any{"/var/lib/reeve": struct{}{}},
			"Labels": map[string]string{
				"org.opencontainers.image.title": "reeve", "org.opencontainers.image.version": r.version,
				"org.opencontainers.image.licenses": "Apache-2.0",
			},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{layer}},
		"history": []any{map[string]any{"created": r.time.Format(time.RFC3339), "created_by": "make packages"}},
	}
}
