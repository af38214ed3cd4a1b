// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"sync/atomic"
)

// An instance is one address of one allocation, with the state that outlives a
// table. Routes to the same address share it.
type instance struct {
	alloc   string
	job     string // namespace/job
	address string
	cookie  func() string  // value of the cookie of sticky sessions
	stack   *stackCounters // of the job; nil if it is not a stack

	outstanding atomic.Int64 // requests in flight
	requests    atomic.Uint64
	failures    atomic.Uint64
	ejection    ejection
	idle        idleConns
	gone        atomic.Bool // reports whether it left the catalog and receives no new requests

	plain, streams link // for requests that net/http forwards

	routes int // number of its routes; owned by the applier
}

type instanceKey struct {
	alloc, address string
}

func newInstance(k instanceKey, job string) *instance {
	return &instance{alloc: k.alloc, job: job, address: k.address, cookie: sync.OnceValue(func() string { return cookieOf(k) })}
}

// cookieOf returns the cookie of an instance. All routers compute the same one, and
// it does not reveal the id of the allocation. A forged cookie reaches only
// instances of the route.
func cookieOf(k instanceKey) string {
	sum := sha256.Sum256([]byte("reeve sticky\x00" + k.alloc + "\x00" + k.address))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// leave closes the idle connections of an instance that left the catalog. Requests
// in flight continue, and the router closes their connections afterwards.
func (i *instance) leave() {
	i.gone.Store(true)
	i.idle.close()
	i.plain.close()
	i.streams.close()
}
