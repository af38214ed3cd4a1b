// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Bounds of the refusals that a leader remembers. Strangers cause them.
const (
	maxRefusals    = 8
	refusalAge     = 24 * time.Hour
	maxRefusedName = 64
)

// refusals are the latest refusals of machines that tried to join, in memory.
type refusals struct {
	mu     sync.Mutex
	recent []*api.Attention
}

// note remembers why a machine was refused. Failures that end by themselves do not count.
func (f *refusals) note(name string, err error, now time.Time) {
	var e *api.Error
	if !errors.As(err, &e) || e.Code == api.CodeUnavailable || e.Code == api.CodeInternal {
		return
	}
	if name = api.Printable(name, maxRefusedName); name == "" {
		name = "without a name"
	}
	message := fmt.Sprintf("Machine %s was refused: %s", name, api.Printable(e.Message, 300))
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.IndexFunc(f.recent, func(a *api.Attention) bool { return a.Message == message }); i >= 0 {
		again := *f.recent[i]
		again.Since, again.Count = now, again.Count+1
		f.recent = append(slices.Delete(f.recent, i, i+1), &again)
		return
	}
	f.recent = append(f.recent, &api.Attention{Kind: api.AttentionJoin, Message: message, Since: now, Count: 1})
	if len(f.recent) > maxRefusals {
		f.recent = slices.Delete(f.recent, 0, 1)
	}
}

// list returns the refusals of the last day.
func (f *refusals) list() []*api.Attention {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recent = slices.DeleteFunc(f.recent, func(a *api.Attention) bool { return time.Since(a.Since) > refusalAge })
	return slices.Clone(f.recent)
}
