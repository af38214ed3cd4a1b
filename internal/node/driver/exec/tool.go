// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Tool is a program of the node with which another driver runs its tasks, isolated by this one.
type Tool struct {
	mu     sync.Mutex
	status *api.DriverStatus // of the program below
	tested string            // the program that status describes
}

// Status returns the status of the driver. find looks for the program, and try runs it as a task, which happens again
// only when another program is installed.
func (t *Tool) Status(ctx context.Context, d *Driver, find func() (path string, err error), try func(context.Context) *api.DriverStatus) *api.DriverStatus {
	isolation := d.Fingerprint(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	path, err := find()
	if err != nil {
		t.tested = ""
		return &api.DriverStatus{Attributes: map[string]string{}, HealthDescription: err.Error(), UpdateTime: time.Now()}
	}
	if !isolation.Healthy {
		return &api.DriverStatus{Detected: true, Attributes: map[string]string{}, HealthDescription: isolation.HealthDescription, UpdateTime: time.Now()}
	}
	current := path
	if st, err := os.Stat(path); err == nil {
		current = fmt.Sprint(path, st.Size(), st.ModTime())
	}
	if t.tested == current {
		return t.status
	}
	s := try(ctx)
	if ctx.Err() == nil {
		t.status, t.tested = s, current
	}
	return s
}
