// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"bytes"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
)

// Docker drops what the machine forwards and its own rules do not accept. It leaves a chain to
// others, before its own.
const (
	dockerTable = "filter"
	dockerChain = "DOCKER-USER"
)

// acceptForwarded accepts what is forwarded to and from the bridge in Docker's chain, if it
// exists.
func (t *table) acceptForwarded() error {
	for _, family := range []nftables.TableFamily{nftables.TableFamilyIPv4, nftables.TableFamilyIPv6} {
		to := &nftables.Table{Name: dockerTable, Family: family}
		c, err := t.c.ListChain(to, dockerChain)
		if err != nil || c == nil {
			continue // Docker is not there
		}
		rules, err := t.c.GetRules(to, c)
		if err != nil {
			return explain("list the rules of "+dockerChain, err)
		}
		for _, match := range [][]expr.Any{isInput(t.bridge, true), isOutput(t.bridge, true)} {
			if !hasRule(rules, match) {
				t.c.InsertRule(&nftables.Rule{Table: to, Chain: c, Exprs: rule(match, []expr.Any{&expr.Counter{}}, accept())})
			}
		}
	}
	return explain("accept the bridge's traffic in "+dockerChain, t.c.Flush())
}

// hasRule reports whether a rule with the match exists.
func hasRule(rules []*nftables.Rule, match []expr.Any) bool {
	key, name := match[0].(*expr.Meta).Key, match[1].(*expr.Cmp).Data
	for _, r := range rules {
		if len(r.Exprs) < 2 {
			continue
		}
		meta, ok1 := r.Exprs[0].(*expr.Meta)
		cmp, ok2 := r.Exprs[1].(*expr.Cmp)
		if ok1 && ok2 && meta.Key == key && bytes.Equal(bytes.TrimRight(cmp.Data, "\x00"), bytes.TrimRight(name, "\x00")) {
			return true
		}
	}
	return false
}
