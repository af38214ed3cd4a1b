// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package registrytest is a registry in memory, without a network, so that tests of pulls can
// use virtual time. A test puts a handler in front of it to make it fail.
package registrytest

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Host is the registry's name.
const Host = "registry.test"

// A Registry is an http.RoundTripper that leads to a registry in memory.
type Registry struct {
	registry http.Handler

	mu      sync.Mutex
	before  func(http.ResponseWriter, *http.Request, http.Handler)
	fetches map[string]int
}

// New returns an empty registry.
func New() *Registry {
	return &Registry{registry: registry.New(registry.Logger(log.New(io.Discard, "", 0))), fetches: map[string]int{}}
}

// Before puts a handler in front of the registry. It may call the next one.
func (r *Registry) Before(h func(w http.ResponseWriter, req *http.Request, next http.Handler)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before = h
}

// Fetches returns how often clients began to read a blob.
func (r *Registry) Fetches(digest v1.Hash) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fetches[digest.String()]
}

func (r *Registry) serve(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	before := r.before
	if _, digest, found := strings.Cut(req.URL.Path, "/blobs/"); found && req.Method == http.MethodGet {
		r.fetches[digest]++
	}
	r.mu.Unlock()
	if before != nil {
		before(w, req, r.registry)
		return
	}
	r.registry.ServeHTTP(w, req)
}

// RoundTrip implements http.RoundTripper. The response ends with the request's context.
func (r *Registry) RoundTrip(req *http.Request) (*http.Response, error) {
	body, writer := io.Pipe()
	w := &response{header: http.Header{}, body: writer, started: make(chan struct{})}
	served := req.Clone(req.Context())
	if served.Body == nil {
		served.Body = http.NoBody
	}
	go func() {
		defer func() {
			if recover() != nil { // http.ErrAbortHandler: the connection breaks
				w.WriteHeader(http.StatusOK)
				writer.CloseWithError(io.ErrUnexpectedEOF)
				return
			}
			w.WriteHeader(http.StatusOK)
			writer.CloseWithError(req.Context().Err()) // nil: the end of the body
		}()
		r.serve(w, served)
	}()
	stop := context.AfterFunc(req.Context(), func() { writer.CloseWithError(req.Context().Err()) })
	select {
	case <-w.started:
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	length := int64(-1)
	if said, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64); err == nil && req.Method == http.MethodHead {
		length = said
	}
	return &http.Response{
		StatusCode: w.status, Header: w.sent, Body: &responseBody{body, stop}, Request: req, ContentLength: length,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

type responseBody struct {
	*io.PipeReader
	stop func() bool
}

func (b *responseBody) Close() error {
	b.stop()
	return b.PipeReader.Close()
}

type response struct {
	header, sent http.Header
	status       int
	body         *io.PipeWriter
	once         sync.Once
	started      chan struct{}
}

func (w *response) Header() http.Header { return w.header }

func (w *response) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.started)
	})
}

func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// A Layer is a layer with any content, even with digests that are wrong.
type Layer struct {
	Blob []byte
	Diff v1.Hash
	Type types.MediaType
}

// Digest implements v1.Layer, as do the following methods.
func (l Layer) Digest() (v1.Hash, error) {
	h, _, err := v1.SHA256(bytes.NewReader(l.Blob))
	return h, err
}

// DiffID returns the claimed digest of the archive.
func (l Layer) DiffID() (v1.Hash, error) { return l.Diff, nil }

// Compressed returns the blob.
func (l Layer) Compressed() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(l.Blob)), nil }

// Uncompressed returns the blob, because no test reads the archive.
func (l Layer) Uncompressed() (io.ReadCloser, error) { return l.Compressed() }

// Size returns the length of the blob.
func (l Layer) Size() (int64, error) { return int64(len(l.Blob)), nil }

// MediaType returns the type that the manifest names.
func (l Layer) MediaType() (types.MediaType, error) { return l.Type, nil }

// Image returns an image of layers for a platform of Linux.
func Image(t testing.TB, architecture string, layers ...v1.Layer) v1.Image {
	t.Helper()
	i, err := mutate.AppendLayers(empty.Image, layers...)
	if err == nil {
		i, err = mutate.ConfigFile(i, withPlatform(t, i, architecture))
	}
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func withPlatform(t testing.TB, i v1.Image, architecture string) *v1.ConfigFile {
	t.Helper()
	config, err := i.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", architecture
	config.Config.Cmd = []string{"/bin/app"}
	return config
}

// Push stores an image or index under a name such as app:1, and returns its full name.
func (r *Registry) Push(t testing.TB, repository string, what remote.Taggable) string {
	t.Helper()
	ref, err := name.ParseReference(Host + "/" + repository)
	if err != nil {
		t.Fatal(err)
	}
	switch what := what.(type) {
	case v1.Image:
		err = remote.Write(ref, what, remote.WithTransport(r))
	case v1.ImageIndex:
		err = remote.WriteIndex(ref, what, remote.WithTransport(r))
	default:
		err = remote.Put(ref, what, remote.WithTransport(r))
	}
	if err != nil {
		t.Fatal(err)
	}
	return ref.String()
}
