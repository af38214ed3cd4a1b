// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/beneath"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/image"
	"github.com/reeve-run/reeve/internal/node/image/registry"
	"github.com/reeve-run/reeve/internal/node/image/store"
)

// OpenArchive opens an archive below the task's directory, or below its directory local, where artifacts
// lie. Links cannot lead out of the task's directory.
func OpenArchive(t *driver.Task, name string) (f *os.File, err error) {
	for _, dir := range []string{t.Dir.Task, t.Dir.Local} {
		var root *os.Root
		if root, err = os.OpenRoot(dir); err != nil {
			break
		}
		f, _, err = beneath.File(root, filepath.Clean(name))
		root.Close()
		if err == nil {
			return f, nil
		}
	}
	return nil, fmt.Errorf("config load: open the archive %s below the task's directory: %w", name, err)
}

// load returns the image that the task's archive holds under the config's name.
func (d *Driver) load(ctx context.Context, t *driver.Task, c *api.ContainerConfig, request image.Request) (*store.Image, error) {
	want, err := registry.ParseReference(c.Image)
	if err != nil {
		return nil, fmt.Errorf("config image: %w", err)
	}
	f, err := OpenArchive(t, c.Load)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	archive, err := registry.OpenArchive(ctx, f, want)
	if err != nil {
		return nil, fmt.Errorf("config load %s: %w", c.Load, err)
	}
	request.Image, request.Source, request.Use = layoutName(c.Load), archive, useOf(t, "")
	i, err := d.pull(ctx, t, c, request)
	if err != nil {
		return nil, fmt.Errorf("config load %s: %w", c.Load, err)
	}
	return i, nil
}
