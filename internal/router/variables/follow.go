// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package variables

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// A Client reads and writes the variables of one namespace. client.Variables implements it.
type Client interface {
	Get(ctx context.Context, path string, q *client.QueryOptions) (*api.Variable, *client.QueryMeta, error)
	Put(ctx context.Context, variable *api.Variable) (*api.Variable, error)
	PutAt(ctx context.Context, variable *api.Variable, index uint64) (*api.Variable, error)
	Acquire(ctx context.Context, variable *api.Variable) (*api.Variable, error)
	Renew(ctx context.Context, path, lockID string) (*api.Variable, error)
	Release(ctx context.Context, path, lockID string) (*api.Variable, error)
}

var _ Client = client.Variables{}

// Open returns a client of the variables of a namespace, with the current token.
type Open func(namespace string) (Client, error)

const (
	longestWait  = time.Minute // of one blocking query: afterwards, the next one uses the current token
	missingPause = time.Second
	changePause  = 100 * time.Millisecond // so that a variable that changes constantly costs little
	firstPause   = time.Second
	longestPause = 15 * time.Second
	readTimeout  = longestWait + 30*time.Second
)

// Follow passes the state of a variable to apply: first the current one, then each change within
// a fraction of a second, until the context ends. An error says why the variable cannot be read;
// Follow repeats the read until it succeeds. apply receives equal states repeatedly.
func Follow(ctx context.Context, open Open, namespace, path string, apply func(*api.Variable, error)) {
	var index uint64
	failed := firstPause
	for {
		begun := time.Now()
		v, at, err := read(ctx, open, namespace, path, index)
		if ctx.Err() != nil {
			return
		}
		apply(v, err)
		pause := changePause
		switch {
		case api.CodeOf(err) == api.CodeNotFound:
			index, pause, failed = 0, missingPause, firstPause
		case err != nil:
			index, pause = 0, failed
			failed = min(2*failed, longestPause)
		case at <= index && time.Since(begun) < longestWait/2:
			index, pause = 0, firstPause // the server did not wait, or was restored from a snapshot
		default:
			index, failed = at, firstPause
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// read returns a variable once it is newer than an index, or after longestWait.
func read(ctx context.Context, open Open, namespace, path string, index uint64) (*api.Variable, uint64, error) {
	c, err := open(namespace)
	if err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	v, meta, err := c.Get(ctx, path, &client.QueryOptions{Index: index, Wait: longestWait})
	if err != nil {
		return nil, 0, err
	}
	return v, meta.Index, nil
}
