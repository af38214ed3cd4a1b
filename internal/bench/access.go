// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// accessPolicies is the number of policies of the measured token, each with as many rules.
const accessPolicies = 100

// access registers jobs with the operator's token, and with one whose policies decide, in turns.
func access(ctx context.Context, b *bench) error {
	c, err := b.clusterOf(ctx, 1)
	if err != nil {
		return err
	}
	defer c.Close()
	token := &api.ACLToken{Name: "bench", Type: api.ACLTokenClient}
	for i := range accessPolicies {
		rules := ""
		for j := range accessPolicies {
			rules += fmt.Sprintf("namespace \"team-%d-%d-*\" {\n  policy = \"read\"\n}\n", i, j)
		}
		name := fmt.Sprint("policy-", i)
		token.Policies = append(token.Policies, name)
		if _, err := c.secure[0].ACL().PutPolicy(ctx, &api.ACLPolicy{Name: name, Rules: rules}); err != nil {
			return err
		}
	}
	if _, err := c.secure[0].ACL().PutPolicy(ctx, &api.ACLPolicy{Name: "writers", Rules: `namespace "default" { policy = "write" }`}); err != nil {
		return err
	}
	token.Policies = append(token.Policies, "writers")
	created, err := c.secure[0].ACL().CreateToken(ctx, token)
	if err != nil {
		return err
	}
	user, err := c.SecureWith(ctx, 0, created.SecretID)
	if err != nil {
		return err
	}
	var ratios []float64
	for i := range pairs {
		_, limited, err := c.flood(ctx, fmt.Sprint("user-", i), 3000, 0, []*client.Client{user})
		if err != nil {
			return err
		}
		_, unlimited, err := c.flood(ctx, fmt.Sprint("operator-", i), 3000, 0, c.secure)
		if err != nil {
			return err
		}
		ratios = append(ratios, limited/unlimited)
	}
	b.add(fmt.Sprintf("registrations/s of a token with %d policies of %d rules against the operator's, %d pairs", accessPolicies, accessPolicies, pairs),
		"ratio >= 0.97", "median ratio %.2f", median(ratios))
	return nil
}
