// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/reeve-run/reeve/client"
)

// connect returns a client of the cluster that flags and environment select.
func (c *cli) connect() (*client.Client, error) {
	var err error
	if c.wait, err = c.serverWait(); err != nil {
		return nil, err
	}
	token, err := c.token()
	if err != nil {
		return nil, err
	}
	return client.New(client.Config{
		Address: c.address(), Token: token, Namespace: c.namespace(), Region: c.region(),
	})
}

// connectionHint returns advice for errors of connections, or "" for other errors.
func (c *cli) connectionHint(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted; the servers continue without this command"
	}
	var no *client.NoAnswer
	if !errors.As(err, &no) {
		return ""
	}
	return fmt.Sprintf("%s\nThe address is %s; set -address or REEVE_ADDR to use another.", err, no.Address)
}

// withResources returns options of lists of allocations that include ports.
func withResources() *client.QueryOptions {
	return &client.QueryOptions{Params: url.Values{"resources": {"true"}}}
}

// listAll reads all pages of a list.
func listAll[T any](ctx context.Context, q client.QueryOptions,
	list func(context.Context, *client.QueryOptions) ([]T, *client.QueryMeta, error),
) ([]T, error) {
	all := []T{}
	for {
		page, meta, err := list(ctx, &q)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if meta == nil || meta.NextToken == "" || q.PerPage > 0 {
			return all, nil
		}
		q.NextToken = meta.NextToken
	}
}
