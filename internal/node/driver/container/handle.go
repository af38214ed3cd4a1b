// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"context"
	"errors"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise"
)

// A handle is one running container.
type handle struct {
	*supervise.Process
	d          *Driver
	t          *driver.Task
	stopSignal string // of the image; "": none
}

// Stop sends the signal of the task, or else that of the image.
func (h *handle) Stop(ctx context.Context, signal string, timeout time.Duration) error {
	if h.t.KillSignal == "" && h.stopSignal != "" {
		signal = h.stopSignal
	}
	return h.Process.Stop(ctx, signal, timeout)
}

// Exec runs a command in the container, as its user.
func (h *handle) Exec(ctx context.Context, e driver.Exec) (int, error) {
	if len(e.Argv) == 0 {
		return 0, errors.New("there is no command to run")
	}
	return h.Process.Exec(ctx, supervise.Command{Container: true, Argv: e.Argv, Env: e.Env, Network: h.t.Namespace()}, e)
}

// Destroy forgets the ended container, and removes its files.
func (h *handle) Destroy(ctx context.Context) error {
	if err := h.Process.Destroy(ctx); err != nil {
		return err
	}
	err := removeFiles(h.t.Dir)
	if h.d.images != nil {
		err = errors.Join(err, h.d.images.Store.Release(h.t.ID))
	}
	return err
}
