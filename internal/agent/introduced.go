// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
)

// checkIntroduction refuses to use an introduction token that contradicts the configuration,
// before the token counts as used. The servers verify the token.
func (a *Agent) checkIntroduction(token pki.Token) error {
	if token.Kind != pki.IntroductionToken {
		return nil
	}
	claims, err := pki.ReadIntroduction(token)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "join: the introduction token %v", err)
	}
	return a.bind(claims.NodePool, claims.NodeName)
}

// bind sets the pool and the name that an introduction token decides; "" is undecided. It
// refuses a configuration that names others.
func (a *Agent) bind(pool, name string) error {
	c := &a.config
	if pool != "" {
		if own := c.Client.NodePool; own != "" && own != pool {
			return api.Errorf(api.CodeInvalid, "the configuration names node pool %q, and the introduction token of this machine puts it into pool %q: remove node_pool from client { } (or -node-pool), or join with another token, which needs an empty data directory", own, pool)
		}
		c.Client.NodePool = pool
	}
	if name != "" {
		if a.named && c.Name != name {
			return api.Errorf(api.CodeInvalid, "the configuration names this machine %q, and its introduction token %q: remove name (or -node), or join with another token, which needs an empty data directory", c.Name, name)
		}
		c.Name = name
	}
	return nil
}

// bindMember sets what the token decided with which this machine joined.
func (a *Agent) bindMember() error {
	m, _ := a.trust.Member()
	return a.bind(m.NodePool, m.NodeName)
}
