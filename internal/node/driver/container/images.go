// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/image"
	"github.com/reeve-run/reeve/internal/node/image/registry"
	"github.com/reeve-run/reeve/internal/node/image/store"
)

// obtain returns the task's image with a lease of the run.
func (d *Driver) obtain(ctx context.Context, t *driver.Task, c *api.ContainerConfig) (*store.Image, error) {
	request := image.Request{Image: c.Image, Owner: t.ID, Anonymous: c.AuthSoft}
	if a := c.Auth; a != nil && (a.Username != "" || a.Password != "") {
		request.Login = &registry.Credentials{User: a.Username, Password: a.Password}
	}
	if path, ok := strings.CutPrefix(c.Image, api.LayoutPrefix); ok {
		root, err := d.openLayout(t, path)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		request.Image, request.Layout, request.Use = layoutName(path), root, useOf(t, "")
		return d.pull(ctx, t, c, request)
	}
	if c.Load != "" {
		return d.load(ctx, t, c, request)
	}
	ctx = tellFirstFailure(ctx, t, c.Image)
	pinned, err := d.pin(ctx, t, c, &request)
	if err != nil {
		return nil, err
	}
	request.Use = useOf(t, request.Image)
	if pinned || !mustAsk(c) {
		d.notifyAhead(t, c, request)
		if i, err := d.images.Cached(request); i != nil || err != nil {
			return i, err
		}
	}
	i, err := d.pull(ctx, t, c, request)
	if pinned {
		err = goneError(c, request.Image, err)
	}
	return i, err
}

// tellFirstFailure returns a context in which the first request of the pull that must be repeated is told: the
// task's next sign may be a minute away.
func tellFirstFailure(ctx context.Context, t *driver.Task, image string) context.Context {
	var once sync.Once
	return registry.OnFailure(ctx, func(err error, wait time.Duration) {
		if t.Notify != nil {
			once.Do(func() {
				t.Notify(fmt.Sprintf("The pull of %s does not advance: %v. Next attempt in %s", image, err, wait.Round(time.Second)))
			})
		}
	})
}

// notifyAhead tells the user if the image was pulled ahead.
func (d *Driver) notifyAhead(t *driver.Task, c *api.ContainerConfig, request image.Request) {
	found, err := d.images.Find(request)
	if err != nil || found == nil || t.Notify == nil {
		return
	}
	for _, u := range request.Use {
		if version, ok := found.IsAhead(u); ok {
			t.Notify(fmt.Sprintf("Found %s on the node: prefetched for version %d", shownImage(c.Image, request.Image), version))
		}
	}
}

// mustAsk reports whether each start asks the registry for the image.
func mustAsk(c *api.ContainerConfig) bool {
	ref, err := registry.ParseReference(c.Image)
	return c.ForcePull || err != nil || ref.Tag == "latest"
}

func (d *Driver) pull(ctx context.Context, t *driver.Task, c *api.ContainerConfig, request image.Request) (*store.Image, error) {
	progress := NewProgress(t, shownImage(c.Image, request.Image))
	request.Progress = func(p image.Progress) {
		progress.Report(p.Bytes, p.TotalBytes, fmt.Sprintf(", %d of %d layers", p.Layers, p.TotalLayers))
	}
	begin := time.Now()
	bounded, cancel := context.WithTimeout(ctx, c.PullTimeout)
	defer cancel()
	i, err := d.images.Pull(bounded, request)
	if err != nil {
		if ctx.Err() == nil {
			return nil, pullError(bounded, c, err)
		}
		return nil, ctx.Err()
	}
	progress.Finish(time.Since(begin), i.Size())
	return i, nil
}

// isFinal reports whether another attempt to pull must fail.
func isFinal(err error) bool {
	var answered *registry.Error
	return errors.As(err, &answered) && (answered.Status == 401 || answered.Status == 403 || answered.Status == 404)
}

// openLayout opens an image layout: below the task's directory if the path is relative, and below
// the operator's directory otherwise.
func (d *Driver) openLayout(t *driver.Task, path string) (*os.Root, error) {
	base := t.Dir.Task
	if filepath.IsAbs(path) {
		if d.cfg.ImageDir == "" {
			return nil, fmt.Errorf("config image %q: this node permits no image layouts of its own: set image_dir in client { container { } } of the agent's configuration, or give a path below the task's directory", api.LayoutPrefix+path)
		}
		var err error
		if base = d.cfg.ImageDir; path != base {
			if path, err = filepath.Rel(base, path); err != nil || !filepath.IsLocal(path) {
				return nil, fmt.Errorf("config image: the layout is not below %s, which is image_dir in client { container { } } of the agent's configuration", base)
			}
		} else {
			path = "."
		}
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, fmt.Errorf("open the image layout: %w", err)
	}
	defer root.Close()
	layout, err := root.OpenRoot(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("open the image layout %s: %w: a layout is a directory with index.json", path, err)
	}
	return layout, nil
}

// layoutName makes the name by which the store knows an image of a layout.
func layoutName(path string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, strings.ToLower(filepath.Clean(path)))
	return "layout.invalid/x" + strings.Trim(clean, "-") + ":layout"
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }
