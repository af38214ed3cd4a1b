// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Config configures a Fetcher. The zero value of each limit is that of DefaultLimits.
type Config struct {
	Dir        string // of the cache; only the agent's user can read it
	CacheBytes int64  // of the kept results; 0: DefaultCache
	Limits     Limits
	S3Timeout  time.Duration // instead of Limits.Timeout; 0: that
	GitTimeout time.Duration // likewise
	// Environment lists variables of the agent's environment that the fetching process receives.
	Environment []string
	// ExtraPaths are further parts of the host that the fetching process can read.
	ExtraPaths []string
	// Open disables the isolation of the fetching process.
	Open bool
}

// DefaultCache is the default of Config.CacheBytes.
const DefaultCache = 10 << 30

// parallel bounds the number of fetching processes, and that of copies.
const parallel = 8

// A Fetcher fetches artifacts for the tasks of a node.
type Fetcher struct {
	config  Config
	store   *Store
	shim    *shim
	slots   chan struct{} // fetching processes
	copies  chan struct{}
	fetches atomic.Int64
}

// New opens a fetcher and its cache.
func New(c Config) (*Fetcher, error) {
	if c.CacheBytes == 0 {
		c.CacheBytes = DefaultCache
	}
	c.Limits = c.Limits.withDefaults()
	store, err := OpenStore(c.Dir, c.CacheBytes)
	if err != nil {
		return nil, err
	}
	s := &shim{root: filepath.Join(c.Dir, "root"), extra: c.ExtraPaths, open: c.Open}
	for _, name := range c.Environment {
		if v, ok := os.LookupEnv(name); ok {
			s.env = append(s.env, name+"="+v)
		}
	}
	return &Fetcher{config: c, store: store, shim: s, slots: make(chan struct{}, parallel), copies: make(chan struct{}, parallel)}, nil
}

// Close waits for fetches, whose callers must have left.
func (f *Fetcher) Close() { f.store.Close() }

// Fetches returns the number of fetching processes since the agent's start.
func (f *Fetcher) Fetches() int64 { return f.fetches.Load() }

// Get fetches an artifact whose variables have been replaced. An artifact with a strong checksum
// comes from the cache if it was fetched before. The caller releases the result.
func (f *Fetcher) Get(ctx context.Context, a *api.Artifact) (*Result, *api.ArtifactSource, error) {
	s, err := api.ParseArtifact(a)
	if err != nil {
		return nil, nil, &Failure{Text: err.Error()}
	}
	make := func(ctx context.Context, work string) error { return f.fetch(ctx, work, s, a) }
	key := cacheKey(s)
	if key == "" {
		r, err := f.store.Once(ctx, make)
		return r, s, err
	}
	r, err := f.store.Get(ctx, key, make)
	return r, s, err
}

// Place copies a result into a directory of a task. A damaged result is fetched again.
func (f *Fetcher) Place(ctx context.Context, a *api.Artifact, into Target) error {
	for retry := false; ; retry = true {
		r, s, err := f.Get(ctx, a)
		if err != nil {
			return err
		}
		err = f.place(ctx, r, into)
		r.Release()
		if !errors.Is(err, errDamaged) || retry {
			return err
		}
		f.store.Discard(cacheKey(s))
	}
}

func (f *Fetcher) place(ctx context.Context, r *Result, into Target) error {
	select {
	case f.copies <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-f.copies }()
	return r.Place(into)
}

// fetch runs a fetching process.
func (f *Fetcher) fetch(ctx context.Context, work string, s *api.ArtifactSource, a *api.Artifact) error {
	select {
	case f.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-f.slots }()
	f.fetches.Add(1)
	r := &Request{Source: s, Headers: a.Headers, Insecure: a.Insecure, Limits: f.config.Limits}
	switch {
	case s.Scheme == api.ArtifactS3 && f.config.S3Timeout > 0:
		r.Limits.Timeout = f.config.S3Timeout
	case s.Scheme == api.ArtifactGit && f.config.GitTimeout > 0:
		r.Limits.Timeout = f.config.GitTimeout
	}
	_, err := f.shim.run(ctx, work, r)
	return err
}

// cacheKey identifies a result by its checksum and by what is made of the file; "" if the file is
// not known before it is fetched.
func cacheKey(s *api.ArtifactSource) string {
	if !isStrong(s.Checksum) {
		return ""
	}
	text, err := json.Marshal([]string{s.Checksum.Algorithm, s.Checksum.Hex, s.Archive, s.Subdir, plainName(s), fmt.Sprint(s.Mode == api.ArtifactModeFile)})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
