// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
)

// accessVariables reads variables of a cluster of three, and rotates the root key while clients write.
func accessVariables(ctx context.Context, b *bench) error {
	const n = 10_000
	c, err := b.cluster(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	path := func(i int64) string { return fmt.Sprint("app/", i) }
	_, rate, err := flood(ctx, n, func(i int64) error {
		variable := &api.Variable{VariableMetadata: api.VariableMetadata{Path: path(i)}, Items: map[string]string{"password": "c2VjcmV0LXNlY3JldC1zZWNyZXQ", "user": "app"}}
		_, err := c.secure[i%trio].Variables().Put(ctx, variable)
		return err
	})
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("write variables to three servers, %d clients", manyClients), "", "%.0f/s", rate)
	var read times
	for i := range int64(2000) {
		begin := time.Now()
		if _, _, err := c.secure[0].Variables().Get(ctx, path(1+i), nil); err != nil {
			return err
		}
		read = append(read, time.Since(begin))
	}
	b.add("read a variable over TLS, one client", "p50 <= 1 ms", "%s", read)
	before, err := constantly(ctx, c.secure[0], "before", func(ctx context.Context) error { return pause(ctx, 5*time.Second) })
	if err != nil {
		return err
	}
	var took time.Duration
	during, err := constantly(ctx, c.secure[0], "during", func(ctx context.Context) error {
		begin := time.Now()
		if _, err := c.secure[0].Keyring().Rotate(ctx, true); err != nil {
			return err
		}
		err := c.Machines[0].Poll(ctx, 20*time.Millisecond, func(ctx context.Context) error {
			keys, _, err := c.secure[0].Keyring().List(ctx, nil)
			for _, k := range keys {
				if k.State == api.RootKeyActive && k.Variables == n {
					return err
				}
			}
			return errors.Join(err, errors.New("variables have the earlier key"))
		})
		took = time.Since(begin)
		return err
	})
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("rotate the key of %d variables while clients write: writes during it against before", n), "no write fails",
		"%.1f s; %.0f/s %s, before %.0f/s %s", took.Seconds(), during.rate, during.times, before.rate, before.times)
	return nil
}
