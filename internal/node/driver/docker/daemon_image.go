// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/driver/docker/engine"
	"github.com/reeve-run/reeve/internal/node/image/registry"
)

// silence is the longest time without progress of a pull.
const silence = 2 * time.Minute

// pulls makes concurrent pulls of one image one.
type pulls struct {
	mu   sync.Mutex
	open map[string]*pull
}

type pull struct {
	done chan struct{}
	err  error
}

// do runs one pull of a name at a time. Those that come meanwhile share its result.
func (p *pulls) do(ctx context.Context, key string, run func() error) error {
	p.mu.Lock()
	if other := p.open[key]; other != nil {
		p.mu.Unlock()
		select {
		case <-other.done:
			return other.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	mine := &pull{done: make(chan struct{})}
	if p.open == nil {
		p.open = map[string]*pull{}
	}
	p.open[key] = mine
	p.mu.Unlock()
	mine.err = run()
	if ctx.Err() != nil { // its own caller gave up, the others did not
		mine.err = &driver.RecoverableError{Err: fmt.Errorf("the task that pulled %s was stopped", key)}
	}
	p.mu.Lock()
	delete(p.open, key)
	p.mu.Unlock()
	close(mine.done)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return mine.err
}

// obtain makes sure that the daemon has the image. The config then names it as the daemon must.
func (d *daemon) obtain(ctx context.Context, t *driver.Task, c *api.ContainerConfig) (*engine.Image, error) {
	if c.Load != "" {
		if err := d.load(ctx, t, c.Load); err != nil {
			return nil, err
		}
		return d.c.Image(ctx, c.Image)
	}
	ref, err := registry.ParseReference(c.Image)
	if err != nil {
		return nil, fmt.Errorf("config image: %w", err)
	}
	login, loginErr := d.login(ctx, c, ref)
	n, err := d.pin(ctx, t, c, ref, func(ctx context.Context) (string, error) {
		if loginErr != nil {
			return "", loginErr
		}
		return d.c.Digest(ctx, ref.String(), login)
	})
	if err != nil {
		return nil, err
	}
	if n.pinned {
		c.Image = n.ref.String()
	}
	if n.pinned || !c.ForcePull && ref.Tag != "latest" {
		if i, err := d.c.Image(ctx, c.Image); !engine.IsMissing(err) {
			return i, err
		}
	}
	if loginErr != nil {
		return nil, loginErr
	}
	bounded, cancel := context.WithTimeout(ctx, c.PullTimeout)
	defer cancel()
	begin := time.Now()
	progress := container.NewProgress(t, n.shown)
	err = d.pulls.do(bounded, n.ref.String()+"\n"+loginKey(login), func() error {
		return d.c.Pull(bounded, n.ref.String(), login, silence, newReport(progress))
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("pull %s: it took longer than %s: set image_pull_timeout to a longer time, or check the node's connection to the registry: %w", n.shown, c.PullTimeout, err)
	case err != nil:
		return nil, n.goneError(fmt.Errorf("pull %s: %w", n.shown, err))
	}
	i, err := d.c.Image(ctx, c.Image)
	if err == nil {
		progress.Pulled(time.Since(begin), i.Size)
	}
	return i, err
}

func loginKey(l *engine.Login) string {
	if l == nil {
		return ""
	}
	return l.User + "\n" + l.Password + l.Token
}

// login finds credentials for the registry: the task's, or else the node's.
func (d *daemon) login(ctx context.Context, c *api.ContainerConfig, ref registry.Reference) (*engine.Login, error) {
	if a := c.Auth; a != nil && (a.Username != "" || a.Password != "") {
		return &engine.Login{User: a.Username, Password: a.Password, Server: a.Server}, nil
	}
	found, err := d.keychain.Find(ctx, ref.Registry)
	if err != nil {
		if c.AuthSoft {
			return nil, nil
		}
		return nil, err
	}
	if found == (registry.Credentials{}) {
		return nil, nil
	}
	return &engine.Login{User: found.User, Password: found.Password, Token: found.IdentityToken, Server: ref.Registry}, nil
}

// load gives the daemon an archive from the task's directory.
func (d *daemon) load(ctx context.Context, t *driver.Task, name string) error {
	f, err := container.OpenArchive(t, name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := d.c.Load(ctx, f); err != nil {
		return fmt.Errorf("config load: %w", err)
	}
	return nil
}

// newReport adds up the layers of a pull.
func newReport(progress *container.Progress) func(engine.Progress) {
	layers := map[string]engine.Progress{}
	return func(p engine.Progress) {
		if _, known := layers[p.Layer]; p.Layer == "" || p.Total <= 0 || !known && len(layers) >= 1000 {
			return
		}
		layers[p.Layer] = p
		var done, total int64
		for _, l := range layers {
			done, total = done+l.Current, total+l.Total
		}
		progress.Report(done, total, "")
	}
}
