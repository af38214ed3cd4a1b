// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// A Sight is something to see in the shop.
type Sight struct {
	Job     string
	State   string // a sentence
	Command string // arguments of reeve that resolve it
}

// Sights returns what waits for an operator in the shop at this moment. The job files are in the
// directory files. It leaves out objects that do not exist, because a user may have deleted them.
func Sights(ctx context.Context, cl *client.Client, files string) ([]Sight, error) {
	var sights []Sight
	add := func(job, command, format string, args ...any) {
		sights = append(sights, Sight{job, fmt.Sprintf(format, args...), command})
	}
	plan, _, err := cl.Plans().Get(ctx, "checkout", api.PlanDeploy, nil)
	if unexpected(err) {
		return nil, err
	}
	if plan != nil && plan.Status == api.PlanWaiting {
		add("checkout", "plan continue checkout deploy api", "A new version waits after its first instance, the canary.")
	}
	restarts, _, err := cl.Restarts().OfJob(ctx, "cart", nil)
	if unexpected(err) {
		return nil, err
	}
	for _, r := range restarts {
		if r.Status == api.RestartPaused {
			add("cart", "job restart -resume "+api.ShortID(r.ID), "A rolling restart is paused after %d of its instances.", len(r.RestartedAllocs))
		}
	}
	for _, stuck := range []struct {
		job   string
		kind  api.TroubleKind
		state string
		set   string
	}{
		{"newsletter", api.TroubleExited, "It crashes, and its log has the reason: MAIL_URL is not set", "mail_url=http://mail.localhost"},
		{"forecast", api.TroubleNoRoom, "It has no place: no node has 1 TB of memory", "memory=64"},
	} {
		troubles, _, err := cl.Jobs().Troubles(ctx, stuck.job, nil)
		if unexpected(err) {
			return nil, err
		}
		for _, t := range troubles {
			if t.Kind == stuck.kind {
				add(stuck.job, "job run -var "+stuck.set+" "+filepath.Join(files, stuck.job+".hcl"), "%s.", stuck.state)
				break
			}
		}
	}
	shift, _, err := cl.Shifts().Get(ctx, "inventory", nil)
	if unexpected(err) {
		return nil, err
	}
	if shift != nil && shift.IsActive() {
		add("inventory", "stack shift inventory finish", "Traffic shifts to a new version: %.0f %% at this moment.", 100*shift.Share)
	}
	return sights, nil
}

// unexpected reports whether an error has another cause than that the object does not exist.
func unexpected(err error) bool { return err != nil && api.CodeOf(err) != api.CodeNotFound }
