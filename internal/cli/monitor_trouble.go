// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"net/url"
	"strconv"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// watchTroubles watches the troubles of a version. The monitor's result does not depend
// on them.
func (m *monitor) watchTroubles(ctx context.Context, version uint64, updates chan<- update) {
	watchTroubles(ctx, m.cl, m.jobID, ofVersion(version), func(list []*api.Trouble) {
		select {
		case updates <- update{troubles: list, looked: true}:
		case <-ctx.Done():
		}
	})
}

// ofVersion returns options that select the troubles of one version.
func ofVersion(version uint64) *client.QueryOptions {
	return &client.QueryOptions{Params: url.Values{"version": {strconv.FormatUint(version, 10)}}}
}

// sumUp lists the troubles of a version at the end, from its deployment or the current
// ones. It reports whether any exist.
func (m *monitor) sumUp(ctx context.Context, version uint64, kept []*api.Trouble) bool {
	if len(kept) == 0 {
		kept, _, _ = m.cl.Jobs().Troubles(ctx, m.jobID, ofVersion(version))
	}
	return m.trouble.sumUp(ctx, kept)
}
