// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"sync/atomic"
)

// An instance is one address of one allocation: all that must outlive a table.
// Routes that lead to the same address share it.
type instance struct {
	alloc   string
	job     string // namespace/job
	address string
	cookie  func() string // how a sticky session names it

	outstanding atomic.Int64 // requests under way
	requests    atomic.Uint64
	failures    atomic.Uint64
	ejection    ejection
	idle        idleConns
	gone        atomic.Bool // it left the catalog: nothing new goes to it

	plain, streams link // for requests that came over HTTP/2

	routes int // that lead to it; only the applier's
}

type instanceKey struct {
	alloc, address string
}

func newInstance(k instanceKey, job string) *instance {
	return &instance{alloc: k.alloc, job: job, address: k.address, cookie: sync.OnceValue(func() string { return cookieOf(k) })}
}

// cookieOf names an instance for a client: the same in every router, and
// without telling its id. Whoever makes one up gets at most to an instance that
// the route leads to anyway.
func cookieOf(k instanceKey) string {
	sum := sha256.Sum256([]byte("reeve sticky\x00" + k.alloc + "\x00" + k.address))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// leave ends what is kept for an instance that left the catalog. Requests under
// way go on; their connections are closed after them.
func (i *instance) leave() {
	i.gone.Store(true)
	i.idle.close()
	i.plain.close()
	i.streams.close()
}
