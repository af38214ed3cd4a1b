// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// dockerHub is the common name of the registry that the protocol knows as name.DefaultRegistry.
const dockerHub = "docker.io"

// A Reference is the normalized name of an image.
type Reference struct {
	Registry   string // host, with its port unless that is the default; docker.io for Docker Hub
	Repository string // path in the registry
	Tag        string // "" if the reference has a digest
	Digest     v1.Hash
}

// ParseReference normalizes an image's name: busybox becomes docker.io/library/busybox:latest.
// If the name has a tag and a digest, the digest counts.
func ParseReference(text string) (Reference, error) {
	ref, err := name.ParseReference(text, name.WeakValidation)
	if err == nil && hasDots(ref.Context().Name()) {
		err = errors.New("a part of its path consists of dots")
	}
	if err != nil {
		return Reference{}, fmt.Errorf("the image name %q is not valid (%v): write it like busybox:1.36 or registry.example.com/team/app@sha256:DIGEST", text, err)
	}
	r := Reference{Registry: commonName(ref.Context().RegistryStr()), Repository: ref.Context().RepositoryStr()}
	if _, isDigest := ref.(name.Digest); !isDigest {
		r.Tag = ref.Identifier()
		return r, nil
	}
	if r.Digest, err = v1.NewHash(ref.Identifier()); err != nil || r.Digest.Algorithm != "sha256" {
		return Reference{}, fmt.Errorf("the digest of the image name %q is not a SHA-256: copy it from the registry", text)
	}
	return r, nil
}

// hasDots reports whether a part of the name would change the path of a request.
func hasDots(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.Trim(part, ".") == "" {
			return true
		}
	}
	return false
}

func commonName(registry string) string {
	switch strings.ToLower(registry) {
	case name.DefaultRegistry, dockerHub, "registry-1.docker.io":
		return dockerHub
	}
	return strings.ToLower(registry)
}

// Name returns the repository's full name.
func (r Reference) Name() string { return r.Registry + "/" + r.Repository }

// Identifier returns the tag or the digest.
func (r Reference) Identifier() string {
	if r.Tag != "" {
		return r.Tag
	}
	return r.Digest.String()
}

// named returns the tag or the digest with what it is.
func (r Reference) named() string {
	if r.Tag != "" {
		return "the tag " + r.Tag
	}
	return "the digest " + r.Digest.String()
}

func (r Reference) String() string {
	if r.Tag != "" {
		return r.Name() + ":" + r.Tag
	}
	return r.Name() + "@" + r.Digest.String()
}

// Pin returns the reference of the same repository with a digest.
func (r Reference) Pin(digest v1.Hash) Reference {
	r.Tag, r.Digest = "", digest
	return r
}
