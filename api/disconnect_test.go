// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDeprecatedFieldsBecomeTheDisconnectBlock(t *testing.T) {
	for _, c := range []struct {
		name  string
		group Group
		want  *Disconnect
	}{
		{"nothing", Group{PreventRescheduleOnLost: ptr(false)}, nil},
		{"max_client_disconnect", Group{MaxClientDisconnect: ptr(time.Hour)},
			&Disconnect{LostAfter: ptr(time.Hour), Replace: ptr(true), Reconcile: ptr(ReconcileBestScore)}},
		{"stop_after_client_disconnect", Group{StopAfterClientDisconnect: ptr(time.Minute)},
			&Disconnect{StopOnClientAfter: ptr(time.Minute), Replace: ptr(true), Reconcile: ptr(ReconcileBestScore)}},
		{"prevent_reschedule_on_lost", Group{MaxClientDisconnect: ptr(time.Hour), PreventRescheduleOnLost: ptr(true)},
			&Disconnect{LostAfter: ptr(time.Hour), Replace: ptr(false), Reconcile: ptr(ReconcileBestScore)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := webJob()
			g := j.Groups[1]
			g.MaxClientDisconnect, g.StopAfterClientDisconnect = c.group.MaxClientDisconnect, c.group.StopAfterClientDisconnect
			g.PreventRescheduleOnLost = c.group.PreventRescheduleOnLost
			j.Canonicalize()
			if diff := cmp.Diff(c.want, g.Disconnect); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if g.MaxClientDisconnect != nil || g.StopAfterClientDisconnect != nil || g.PreventRescheduleOnLost != nil {
				t.Error("the deprecated fields are still set")
			}
			if err := j.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestContradictionsOfDisconnectAreNamed(t *testing.T) {
	j := webJob()
	g := j.Groups[1]
	g.MaxClientDisconnect = ptr(time.Minute)
	g.Disconnect = &Disconnect{
		LostAfter: ptr(time.Hour), StopOnClientAfter: ptr(-time.Second), Replace: ptr(false), Reconcile: ptr(ReconcileKeepReplacement),
	}
	j.Groups[0].Disconnect = &Disconnect{LostAfter: ptr(time.Duration(0)), Reconcile: ptr("newest")}
	j.Canonicalize()
	var e *Error
	if err := j.Validate(); !errors.As(err, &e) {
		t.Fatalf("the job is taken: %v", err)
	}
	want := []string{
		`group "site": disconnect: lost_after 0s: must be more than 0; leave it out to give an instance up with its node`,
		`group "site": disconnect: reconcile "newest": must be one of keep_original, keep_replacement, best_score, longest_running`,
		`group "worker": max_client_disconnect is the old form of the disconnect block's lost_after: leave it out, where the block says it`,
		`group "worker": disconnect: stop_on_client_after -1s: must not be negative`,
		`group "worker": disconnect: lost_after and stop_on_client_after exclude each other: the node would stop what the servers wait for; ` +
			`keep lost_after to let it run on, or stop_on_client_after to have it stopped`,
		`group "worker": disconnect: reconcile "keep_replacement" has nothing to keep: with replace = false there is no replacement`,
	}
	if diff := cmp.Diff(want, e.Detail); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
