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

// watchTroubles watches what is wrong with a version of the job. What the monitor
// comes to does not depend on it.
func (m *monitor) watchTroubles(ctx context.Context, version uint64, updates chan<- update) {
	watchTroubles(ctx, m.cl, m.jobID, ofVersion(version), func(list []*api.Trouble) {
		select {
		case updates <- update{troubles: list, looked: true}:
		case <-ctx.Done():
		}
	})
}

// ofVersion asks for the troubles of one version of a job.
func ofVersion(version uint64) *client.QueryOptions {
	return &client.QueryOptions{Params: url.Values{"version": {strconv.FormatUint(version, 10)}}}
}

// sumUp says at the end what was wrong with a version, as its deployment kept it
// or as it is now; it reports whether anything was.
func (m *monitor) sumUp(ctx context.Context, version uint64, kept []*api.Trouble) bool {
	if len(kept) == 0 {
		kept, _, _ = m.cl.Jobs().Troubles(ctx, m.jobID, ofVersion(version))
	}
	return m.trouble.sumUp(ctx, kept)
}
