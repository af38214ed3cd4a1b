// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// A Source holds manifests and blobs. The caller verifies the digests of blobs.
type Source interface {
	// Manifest returns a manifest or index by tag or digest, and verifies a digest.
	Manifest(ctx context.Context, id string) (Manifest, error)
	// Blob opens a blob of the descriptor's size.
	Blob(ctx context.Context, d v1.Descriptor) (io.ReadCloser, error)
}

// A Manifest is the text of a manifest or of an index.
type Manifest struct {
	Text      []byte
	MediaType types.MediaType
	Digest    v1.Hash
}

// maxManifest bounds a manifest or index, in bytes, as registries do.
const maxManifest = 4 << 20

// A Client reads from registries.
type Client struct {
	http     http.RoundTripper
	insecure []string
	stall    time.Duration
}

// Options are settings of a Client. The zero value is ready for use.
type Options struct {
	Transport http.RoundTripper // nil: a transport of its own
	Insecure  []string          // hosts, with their ports, that may use plain HTTP
	Stall     time.Duration     // time without a byte that ends a connection; 0: 2 minutes
}

// NewClient returns a client.
func NewClient(o Options) *Client {
	c := &Client{http: o.Transport, insecure: o.Insecure, stall: cmp.Or(o.Stall, 2*time.Minute)}
	if c.http == nil {
		c.http = newTransport()
	}
	return c
}

// Repository returns the repository of an image, read with the credentials.
func (c *Client) Repository(ref Reference, login Credentials) *Repository {
	return &Repository{client: c, ref: ref, login: login}
}

// A Repository is a Source at a registry. Its errors name the image and what to check.
type Repository struct {
	client *Client
	ref    Reference
	login  Credentials

	mu   sync.Mutex
	http *http.Client // logged in; nil before the first request
	url  string
}

// connect logs in, once.
func (r *Repository) connect(ctx context.Context) (*http.Client, string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.http != nil {
		return r.http, r.url, nil
	}
	var options []name.Option
	for _, host := range r.client.insecure {
		if host == r.ref.Registry {
			options = append(options, name.Insecure)
		}
	}
	repository, err := name.NewRepository(r.ref.Name(), options...)
	if err != nil {
		return nil, "", fatal("the repository's name is not valid: %v", err)
	}
	host := (&url.URL{Host: r.ref.Registry}).Hostname()
	base := &guard{inner: r.client.http, stall: r.client.stall, insecure: r.client.insecure, local: isLocal(host)}
	logged, err := transport.NewWithContext(ctx, repository.Registry, r.login.authenticator(), base, []string{repository.Scope(transport.PullScope)})
	if err != nil {
		return nil, "", fmt.Errorf("log in to %s: %w", r.ref.Registry, err)
	}
	r.http = &http.Client{Transport: logged, CheckRedirect: checkRedirect}
	r.url = (&url.URL{Scheme: repository.Scheme(), Host: repository.RegistryStr(), Path: "/v2/" + repository.RepositoryStr()}).String()
	return r.http, r.url, nil
}

// get sends a request. It returns the response if its status is 200 or 206.
func (r *Repository) get(ctx context.Context, path string, header http.Header) (*http.Response, error) {
	client, base, err := r.connect(ctx)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
	if err != nil {
		return nil, fatal("the image's name is not valid: %v", err)
	}
	req.Header = header
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusPartialContent {
		defer resp.Body.Close()
		return nil, readStatus(resp)
	}
	return resp, nil
}

// acceptable lists the manifests that this package understands.
var acceptable = func() string {
	var all []string
	for _, t := range []types.MediaType{types.OCIImageIndex, types.DockerManifestList, types.OCIManifestSchema1, types.DockerManifestSchema2} {
		all = append(all, string(t))
	}
	return strings.Join(all, ", ")
}()

// Manifest implements Source.
func (r *Repository) Manifest(ctx context.Context, id string) (Manifest, error) {
	var tries attempts
	for {
		m, err := r.manifest(ctx, id)
		if err == nil {
			return m, nil
		}
		if err := tries.pause(ctx, err); err != nil {
			return Manifest{}, Explain(r.ref, err)
		}
	}
}

func (r *Repository) manifest(ctx context.Context, id string) (Manifest, error) {
	resp, err := r.get(ctx, "/manifests/"+id, http.Header{"Accept": {acceptable}})
	if err != nil {
		return Manifest{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxManifest+1))
	if err != nil {
		return Manifest{}, fmt.Errorf("read the manifest: %w", err)
	}
	mediaType, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return checkManifest(text, types.MediaType(strings.TrimSpace(mediaType)), id)
}

// checkManifest verifies the digest and finds the media type.
func checkManifest(text []byte, mediaType types.MediaType, id string) (Manifest, error) {
	if len(text) > maxManifest {
		return Manifest{}, fatal("the manifest has more than %d bytes: the image has too many layers or annotations", maxManifest)
	}
	m := Manifest{Text: text, MediaType: mediaType, Digest: hashOf(text)}
	if strings.HasPrefix(id, "sha256:") && m.Digest.String() != id {
		return Manifest{}, fatal("the digest of the manifest is %s, not %s: the registry or a proxy changed it", m.Digest, id)
	}
	var own struct {
		SchemaVersion int
		MediaType     types.MediaType
		Manifests     json.RawMessage
	}
	if err := json.Unmarshal(text, &own); err != nil {
		return Manifest{}, fatal("the manifest is not JSON: check that the address is a registry's (%v)", err)
	}
	if own.SchemaVersion != 2 {
		return Manifest{}, fatal("the image has the manifest format %d, which registries no longer use: push it again with a newer tool", own.SchemaVersion)
	}
	switch {
	case own.MediaType != "":
		m.MediaType = own.MediaType
	case !m.MediaType.IsIndex() && !m.MediaType.IsImage() && own.Manifests != nil:
		m.MediaType = types.OCIImageIndex
	case !m.MediaType.IsIndex() && !m.MediaType.IsImage():
		m.MediaType = types.OCIManifestSchema1
	}
	return m, nil
}

// maxAttempts bounds the attempts at one request that make no progress.
const maxAttempts = 5

// attempts counts failures of a request.
type attempts struct{ failed int }

// failureKey is the context key of the function that OnFailure sets.
type failureKey struct{}

// OnFailure returns a context whose requests call f before they are repeated, with the error and the time until
// the next attempt. Several requests may call f at the same time.
func OnFailure(ctx context.Context, f func(err error, wait time.Duration)) context.Context {
	return context.WithValue(ctx, failureKey{}, f)
}

// pause waits before the next attempt. It returns an error if another attempt cannot help.
func (a *attempts) pause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !isTemporary(err) {
		return err
	}
	if a.failed++; a.failed >= maxAttempts {
		return fmt.Errorf("%w (%d attempts)", err, a.failed)
	}
	wait := time.Second << (a.failed - 1)
	wait += rand.N(wait) // the nodes of a rollout do not return at the same moment
	if s := retryAfter(err); s > 0 {
		wait = s + rand.N(time.Second)
	}
	if f, _ := ctx.Value(failureKey{}).(func(error, time.Duration)); f != nil {
		f(err, wait)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
