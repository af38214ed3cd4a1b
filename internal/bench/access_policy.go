// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// accessPolicy edits a policy on one of three servers, and measures the time from the answer until
// every server obeys it.
func accessPolicy(ctx context.Context, b *bench) error {
	c, err := b.cluster(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	set := func(capability string) error {
		_, err := c.secure[0].ACL().PutPolicy(ctx, &api.ACLPolicy{Name: "edited", Rules: `namespace "default" { capabilities = ["` + capability + `"] }`})
		return err
	}
	if err := set("read-job"); err != nil {
		return err
	}
	token, err := c.secure[0].ACL().CreateToken(ctx, &api.ACLToken{Name: "edited", Type: api.ACLTokenClient, Policies: []string{"edited"}})
	if err != nil {
		return err
	}
	var users []*client.Client
	for i := range c.secure {
		user, err := c.SecureWith(ctx, i, token.SecretID)
		if err != nil {
			return err
		}
		users = append(users, user)
	}
	lists := func(i int) (bool, error) {
		_, _, err := users[i].Jobs().List(ctx, nil)
		if api.CodeOf(err) == api.CodeForbidden {
			return false, nil
		}
		return true, err
	}
	var t times
	for i := range 40 {
		permitted := i%2 == 0
		capability := map[bool]string{true: "list-jobs", false: "read-job"}[permitted]
		if err := set(capability); err != nil {
			return err
		}
		begin := time.Now()
		var wg sync.WaitGroup
		took, errs := make(times, len(users)), make([]error, len(users))
		for i := range users {
			wg.Go(func() {
				errs[i] = c.Machines[i].Poll(ctx, time.Millisecond, func(context.Context) error {
					is, err := lists(i)
					if err == nil && is != permitted {
						err = context.DeadlineExceeded
					}
					return err
				})
				took[i] = time.Since(begin)
			})
		}
		wg.Wait()
		for i, err := range errs {
			if err != nil {
				return err
			}
			t = append(t, took[i])
		}
	}
	b.add("an edited policy: until every one of three servers obeys it", "<= 100 ms", "p50 %s, worst %s of %d", ms(t.at(0.5)), ms(t.at(1)), len(t))
	return nil
}
