// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"context"
	"math/rand/v2"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/pki"
)

// followRoots renews the certificate when the cluster has other roots than this agent knows.
// The renewal brings the roots. Nodes wait for a random part of the spread, which followRoots
// returns.
func (a *Agent) followRoots(ctx context.Context) (spread time.Duration, err error) {
	ca, err := a.client.Cluster().CA(ctx)
	if err != nil {
		return 0, err
	}
	spread = time.Duration(min(max(ca.Spread, 0), int64(time.Hour)))
	roots, err := pki.ParseRoots([]byte(ca.Roots))
	if err != nil || bytes.Equal(roots.PEM(), a.trust.Roots().PEM()) {
		return spread, err
	}
	if a.server == nil {
		timer := time.NewTimer(rand.N(spread + 1))
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return spread, ctx.Err()
		case <-timer.C:
		}
	}
	a.log.Info("the roots of the cluster changed: renewing the certificate")
	a.store.RenewNow()
	return spread, nil
}

// confirmRenewal tells the servers that this member uses a certificate of the newest root, over
// a connection with this certificate. If it fails, a rotation takes longer.
func (a *Agent) confirmRenewal(ctx context.Context) {
	using := a.trust.Roots().Digests()[0]
	err := a.asMember(ctx, func(ctx context.Context, cl *client.Client) error {
		_, err := cl.Cluster().Renew(ctx, &api.RenewRequest{Using: using})
		return err
	})
	if err != nil && ctx.Err() == nil {
		a.log.Debug("cannot confirm the renewal of the certificate", "error", err)
	}
}
