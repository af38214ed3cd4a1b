// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto/tls"
	"sync/atomic"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/pki"
)

// watchRoots makes handshakes note whether the cluster replaces its root: then a server's
// certificate carries the new root, signed by the old one.
func watchRoots(config *tls.Config, roots *pki.Roots) (outdated func() bool) {
	var carried, plain atomic.Bool
	verify := config.VerifyConnection
	config.VerifyConnection = func(cs tls.ConnectionState) error {
		err := verify(cs)
		if err == nil {
			carried.Store(len(cs.PeerCertificates) > 1)
			plain.Store(len(cs.PeerCertificates) == 1)
		}
		return err
	}
	return func() bool {
		known := len(roots.Digests())
		return known == 1 && carried.Load() || known > 1 && plain.Load()
	}
}

// refreshRoots stores the roots of the cluster in the context of the connection, if they
// changed. The server that sends them is verified. The command has already succeeded, so that
// errors change nothing: the next command tries again.
func (c *cli) refreshRoots(ctx context.Context, cl *client.Client) {
	if c.used == nil || c.outdated == nil || !c.outdated() {
		return
	}
	ca, err := cl.Cluster().CA(ctx)
	if err != nil || ca.Roots == c.used.Roots {
		return
	}
	if _, err := pki.ParseRoots([]byte(ca.Roots)); err != nil {
		return
	}
	file, err := c.contexts()
	if err != nil {
		return
	}
	for i := range file.Contexts {
		if file.Contexts[i].Name == c.used.Name && file.Contexts[i].Roots == c.used.Roots {
			file.Contexts[i].Roots = ca.Roots
			_ = file.Save()
		}
	}
}
