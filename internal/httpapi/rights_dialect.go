// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
)

// settleDialect derives what a request of a dialect asks of tokens. A caller with limited rights signs with
// the name of its token: dialects take the author of a decision from the query.
func (c *call) settleDialect(d Dialect) {
	if d.Needs == nil {
		return
	}
	if needs, ok := acl.Named(d.Needs(c.r)); ok {
		c.route.needs, c.route.Capability, c.route.about = needs, Capability(needs.String()), ofDialect
	}
	if _, limited := c.author(); limited {
		url := *c.r.URL
		query := url.Query()
		query.Set("by", c.tokenName())
		url.RawQuery = query.Encode()
		signed := *c.r
		signed.URL = &url
		c.r, c.query = &signed, query
	}
}

// permitDialect checks the namespace of a dialect's request, which the query names.
func (c *call) permitDialect() error {
	if c.query == nil {
		c.query = c.r.URL.Query()
	}
	return c.permit(c.route.needs, cmp.Or(c.query.Get("namespace"), api.DefaultNamespace))
}
