// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"
	"time"
)

// Values of Disconnect.Reconcile: which allocation continues when a node reconnects after
// its allocation was replaced.
const (
	ReconcileKeepOriginal    = "keep_original"
	ReconcileKeepReplacement = "keep_replacement"
	ReconcileBestScore       = "best_score"      // the allocation on the node with the higher score
	ReconcileLongestRunning  = "longest_running" // the allocation that has run longest without a restart
)

var reconcileStrategies = []string{
	ReconcileKeepOriginal, ReconcileKeepReplacement, ReconcileBestScore, ReconcileLongestRunning,
}

// Replaces reports whether an instance is replaced on another node while its node is
// disconnected. The default without a disconnect block is true.
func (d *Disconnect) Replaces() bool { return d == nil || d.Replace == nil || *d.Replace }

// canonicalizeDisconnect copies the deprecated fields to the disconnect block. If both are
// set, both stay, and validation reports the conflict.
func (g *Group) canonicalizeDisconnect() {
	take := func(old **time.Duration, field func(*Disconnect) **time.Duration) {
		if *old == nil || g.Disconnect != nil && *field(g.Disconnect) != nil {
			return
		}
		if g.Disconnect == nil {
			g.Disconnect = &Disconnect{}
		}
		*field(g.Disconnect), *old = *old, nil
	}
	take(&g.MaxClientDisconnect, func(d *Disconnect) **time.Duration { return &d.LostAfter })
	take(&g.StopAfterClientDisconnect, func(d *Disconnect) **time.Duration { return &d.StopOnClientAfter })
	if p := g.PreventRescheduleOnLost; p != nil && (g.Disconnect == nil || g.Disconnect.Replace == nil) {
		if *p {
			if g.Disconnect == nil {
				g.Disconnect = &Disconnect{}
			}
			g.Disconnect.Replace = new(false)
		}
		g.PreventRescheduleOnLost = nil
	}
	if d := g.Disconnect; d != nil {
		setPointer(&d.Replace, true)
		setPointer(&d.Reconcile, ReconcileBestScore)
	}
}

func (g *Group) validateDisconnect(c *complaints, at string) {
	for _, old := range []struct {
		set            bool
		field, instead string
	}{
		{g.MaxClientDisconnect != nil, "max_client_disconnect", "lost_after"},
		{g.StopAfterClientDisconnect != nil, "stop_after_client_disconnect", "stop_on_client_after"},
		{g.PreventRescheduleOnLost != nil, "prevent_reschedule_on_lost", "replace"},
	} {
		if old.set {
			c.add("%s: %s is the old form of the disconnect block's %s: leave it out, where the block says it", at, old.field, old.instead)
		}
	}
	d := g.Disconnect
	if d == nil {
		return
	}
	at += ": disconnect"
	if d.LostAfter != nil && *d.LostAfter <= 0 {
		c.add("%s: lost_after %s: must be more than 0; leave it out to give an instance up with its node", at, *d.LostAfter)
	}
	if d.StopOnClientAfter != nil && *d.StopOnClientAfter < 0 {
		c.add("%s: stop_on_client_after %s: must not be negative", at, *d.StopOnClientAfter)
	}
	if d.LostAfter != nil && d.StopOnClientAfter != nil {
		c.add("%s: lost_after and stop_on_client_after exclude each other: the node would stop what the servers wait for; "+
			"keep lost_after to let it run on, or stop_on_client_after to have it stopped", at)
	}
	if r := d.Reconcile; r != nil && !slices.Contains(reconcileStrategies, *r) {
		c.add("%s: reconcile %q: must be one of %s", at, *r, strings.Join(reconcileStrategies, ", "))
	}
	if !d.Replaces() && d.Reconcile != nil && *d.Reconcile == ReconcileKeepReplacement {
		c.add("%s: reconcile %q has nothing to keep: with replace = false there is no replacement", at, *d.Reconcile)
	}
}
