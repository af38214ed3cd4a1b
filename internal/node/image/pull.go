// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/reeve-run/reeve/internal/node/beneath"
	"github.com/reeve-run/reeve/internal/node/image/layer"
	"github.com/reeve-run/reeve/internal/node/image/registry"
	"github.com/reeve-run/reeve/internal/node/image/store"
)

// A Puller pulls images into a store. It has no state of its own.
type Puller struct {
	Store    *store.Store
	Client   *registry.Client
	Keychain registry.Keychain
	Limits   layer.Limits // of one image; zero: layer.DefaultLimits
	Parallel int          // layers that one pull fetches at the same time; 0: 3
}

// A Request names an image and its user.
type Request struct {
	Image     string
	Owner     string                  // of the lease
	Use       []store.Use             // whose image it is
	Platform  *v1.Platform            // nil: the node's
	Login     *registry.Credentials   // nil: those of the keychain
	Anonymous bool                    // pull without credentials if the keychain fails
	Layout    *os.Root                // directory of an OCI layout to read instead of a registry
	Source    registry.Source         // to read instead of a registry; it holds one image
	Progress  func(Progress)          // may be nil; called by one goroutine at a time
	Admit     func(bytes int64) error // may be nil; rejects the size of the compressed layers before they are fetched
}

func (r *Request) platform() v1.Platform {
	if r.Platform != nil {
		return *r.Platform
	}
	return v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
}

// open parses the image's name and opens its source.
func (p *Puller) open(ctx context.Context, r *Request) (registry.Reference, registry.Source, error) {
	ref, err := registry.ParseReference(r.Image)
	if err != nil {
		return ref, nil, err
	}
	if r.Source != nil {
		return ref, r.Source, nil
	}
	if r.Layout != nil {
		return ref, registry.OpenLayout(r.Layout), nil
	}
	var login registry.Credentials
	if r.Login != nil {
		login = *r.Login
	} else if login, err = p.Keychain.Find(ctx, ref.Registry); err != nil && !r.Anonymous {
		return ref, nil, fmt.Errorf("pull %s: %w", ref, err)
	}
	return ref, p.Client.Repository(ref, login), nil
}

// Resolve returns the image's name with the digest that its tag leads to now. The digest is the
// same for all platforms.
func (p *Puller) Resolve(ctx context.Context, r Request) (registry.Reference, error) {
	ref, source, err := p.open(ctx, &r)
	if err != nil || ref.Tag == "" {
		return ref, err
	}
	m, err := source.Manifest(ctx, identifier(&r, ref))
	if err != nil {
		return ref, registry.Explain(ref, err)
	}
	return ref.Pin(m.Digest), nil
}

// identifier returns the tag or digest to ask the source for. A layout holds one image.
func identifier(r *Request, ref registry.Reference) string {
	if (r.Layout != nil || r.Source != nil) && ref.Tag != "" {
		return ""
	}
	return ref.Identifier()
}

// Find returns the image that the name led to at its last pull, without a lease; nil if the store does not
// have it.
func (p *Puller) Find(r Request) (*store.Image, error) {
	ref, err := registry.ParseReference(r.Image)
	if err != nil {
		return nil, err
	}
	return p.Store.Find(ref.String(), platformName(r.platform())), nil
}

// Cached returns the image that the name led to at its last pull, with a lease of the owner. It asks
// no registry; without the image in the store it returns nil.
func (p *Puller) Cached(r Request) (*store.Image, error) {
	ref, err := registry.ParseReference(r.Image)
	if err != nil {
		return nil, err
	}
	if found := p.Store.Find(ref.String(), platformName(r.platform())); found != nil {
		return p.Store.Lease(found.Digest, "", r.Owner, r.Use...)
	}
	return nil, nil
}

// Pull returns an image that is complete in the store, with a lease of the owner. An image that
// is named by its digest and is in the store needs no registry.
func (p *Puller) Pull(ctx context.Context, r Request) (*store.Image, error) {
	ref, source, err := p.open(ctx, &r)
	if err != nil {
		return nil, err
	}
	if ref.Tag == "" {
		if found := p.Store.Find(ref.String(), platformName(r.platform())); found != nil {
			if i, err := p.Store.Lease(found.Digest, "", r.Owner, r.Use...); i != nil || err != nil {
				return i, err
			}
		}
	}
	i, err := p.pull(ctx, ref, source, &r)
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%w: free space on the disk of the image store, or lower its collection thresholds", err)
	}
	return i, registry.Explain(ref, err)
}

func (p *Puller) pull(ctx context.Context, ref registry.Reference, source registry.Source, r *Request) (*store.Image, error) {
	m, err := registry.Select(ctx, source, identifier(r, ref), r.platform())
	if err != nil {
		return nil, err
	}
	if have := p.Store.Image(m.Digest); have != nil && have.Platform == platformName(r.platform()) {
		if i, err := p.Store.Lease(m.Digest, ref.String(), r.Owner, r.Use...); i != nil || err != nil {
			return i, err
		}
	}
	description, err := registry.Describe(ctx, source, m, r.platform())
	if err != nil {
		return nil, err
	}
	if r.Admit != nil {
		var size int64
		for _, l := range description.Layers {
			if size += l.Size; l.Size < 0 || size < 0 {
				return nil, fmt.Errorf("pull %s: the sizes of its layers are not valid", ref)
			}
		}
		if err := r.Admit(size); err != nil {
			return nil, err
		}
	}
	releases, err := p.layers(ctx, source, description, newTracker(r.Progress, description.Layers))
	defer func() {
		for _, release := range releases {
			release()
		}
	}()
	if err != nil {
		return nil, err
	}
	image := &store.Image{Digest: m.Digest, Platform: platformName(r.platform()), Config: description.Config}
	for _, id := range description.DiffIDs {
		image.Layers = append(image.Layers, store.Layer{DiffID: id})
	}
	return p.Store.Record(image, ref.String(), r.Owner, r.Use...)
}

// layers makes all layers present. The first failure ends the others.
func (p *Puller) layers(ctx context.Context, source registry.Source, d *registry.Image, t *tracker) (releases []func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	budget := layer.NewBudget(cmp.Or(p.Limits, layer.DefaultLimits))
	slots := make(chan struct{}, cmp.Or(p.Parallel, 3))
	var wg sync.WaitGroup
	var mu sync.Mutex // guards releases
	for n := range d.Layers {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			release, err := p.Store.Layer(ctx, d.DiffIDs[n], func(ctx context.Context, root *beneath.Dir) (layer.Size, error) {
				blob, err := source.Blob(ctx, d.Layers[n])
				if err != nil {
					return layer.Size{}, err
				}
				defer blob.Close()
				return layer.Unpack(root, &counting{blob, t, n}, d.Layers[n].Digest, d.DiffIDs[n], budget)
			})
			if err != nil {
				cancel(fmt.Errorf("layer %d of %d: %w", n+1, len(d.Layers), err))
				return
			}
			t.finished(n)
			mu.Lock()
			defer mu.Unlock()
			releases = append(releases, release)
		})
	}
	wg.Wait()
	return releases, context.Cause(ctx)
}

// platformName is the form in which records name a platform.
func platformName(p v1.Platform) string {
	if p.Variant == "" {
		return p.OS + "/" + p.Architecture
	}
	return p.OS + "/" + p.Architecture + "/" + p.Variant
}

// counting reports the bytes of a layer's blob.
type counting struct {
	io.Reader
	tracker *tracker
	layer   int
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.tracker.read(c.layer, int64(n))
	return n, err
}
