// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"context"
	"math/rand/v2"
	"time"

	"github.com/reeve-run/reeve/internal/pki"
)

// rootsSpread is the longest random delay before a node renews because of new roots.
const rootsSpread = 15 * time.Second

// followRoots renews the certificate when the cluster has other roots than this agent knows.
// The renewal brings the roots. Nodes spread their renewals over time.
func (a *Agent) followRoots(ctx context.Context) error {
	ca, err := a.client.Cluster().CA(ctx)
	if err != nil {
		return err
	}
	roots, err := pki.ParseRoots([]byte(ca.Roots))
	if err != nil {
		return err
	}
	if bytes.Equal(roots.PEM(), a.trust.Roots().PEM()) {
		return nil
	}
	if a.server == nil {
		timer := time.NewTimer(rand.N(rootsSpread))
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
	}
	a.log.Info("the roots of the cluster changed: renewing the certificate")
	a.trust.RenewNow()
	return nil
}
