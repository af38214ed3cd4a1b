// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/reeve-run/reeve/internal/pki"
)

// An Identity is an agent's identity in its cluster. A Store has certificates of the cluster's
// own authority, and an External has certificates from files.
type Identity interface {
	Member() (Member, bool)
	SetServers(addrs []string) error
	SealKey() (private []byte)
	Roots() *pki.Roots
	Expires() time.Time
	Warning(now time.Time) string
	ServerConfig(protocols ...string) *tls.Config
	ClientConfig(protocols ...string) *tls.Config
	MemberConfig(protocols ...string) *tls.Config
	Peer(c tls.ConnectionState) (pki.Identity, bool)
	Renew(ctx context.Context, ask func(ctx context.Context, csrPEM []byte) (certPEM, rootsPEM []byte, err error))
}

var (
	_ Identity = (*Store)(nil)
	_ Identity = (*External)(nil)
)
