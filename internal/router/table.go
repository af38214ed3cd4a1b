// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"hash/maphash"
	"maps"
	"strings"

	"github.com/reeve-run/reeve/internal/lifecycle"
)

// A table finds the pool of a request. It is immutable: an update creates another
// one, which shares all unchanged shards.
type table struct {
	index  uint64
	shards [shards]map[poolKey]*pool
	hosts  [shards]map[string]int // number of HTTP and gRPC pools per host
	units  [unitShards]map[lifecycle.Place]*unit
	tags   map[string]int // number of stacks by tag
	// previews is the number of pools whose stacks may be previewed.
	previews int
	// passthroughs is the number of hosts whose TLS connections go to instances.
	passthroughs int
	// longest is the length of the longest path of a pool. A lookup ignores the rest
	// of a longer path.
	longest int
}

const shards = 512

// seed differs per process, which is harmless: no other process sees a shard.
var seed = maphash.MakeSeed()

func shardOf(k *poolKey) int {
	h := maphash.String(seed, k.path) ^ 31*maphash.String(seed, k.host) ^ uint64(k.listen)*0x9e3779b97f4a7c15
	if k.grpc {
		h = ^h
	}
	return int(h % shards)
}

func hostShard(host string) int { return int(maphash.String(seed, host) % shards) }

func (t *table) get(k poolKey) *pool { return t.shards[shardOf(&k)][k] }

// with returns a table with changed pools. A nil pool removes its key.
func (t *table) with(index uint64, changed map[poolKey]*pool) *table {
	next := *t
	next.index = index
	copied, hostsCopied := map[int]bool{}, map[int]bool{}
	for k, p := range changed {
		i := shardOf(&k)
		if !copied[i] {
			copied[i] = true
			next.shards[i] = cloned(next.shards[i])
		}
		old, before := next.shards[i][k]
		if old != nil && old.previews {
			next.previews--
		}
		if p != nil && p.previews {
			next.previews++
		}
		next.longest = max(next.longest, len(k.path))
		if p == nil {
			delete(next.shards[i], k)
		} else {
			next.shards[i][k] = p
		}
		if before == (p != nil) {
			continue
		}
		if k.listen == passthroughs {
			if p == nil {
				next.passthroughs--
			} else {
				next.passthroughs++
			}
		}
		if k.listen != 0 {
			continue
		}
		h := hostShard(k.host)
		if !hostsCopied[h] {
			hostsCopied[h] = true
			next.hosts[h] = cloned(next.hosts[h])
		}
		if p == nil {
			next.hosts[h][k.host]--
		} else {
			next.hosts[h][k.host]++
		}
		if next.hosts[h][k.host] == 0 {
			delete(next.hosts[h], k.host)
		}
	}
	return &next
}

func cloned[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return maps.Clone(m)
}

func (t *table) hasHost(host string) bool { return t.hosts[hostShard(host)][host] > 0 }

// find returns the pool for a request. The host itself precedes its wildcard, which
// precedes an empty host; then the longest path wins. If a host and path has both,
// gRPC requests go to the gRPC pool, and all others to the HTTP pool.
func (t *table) find(host, path string, grpc bool) *pool {
	if host != "" {
		if p := t.findPath(host, path, grpc); p != nil {
			return p
		}
		if i := strings.IndexByte(host, '.'); i > 0 {
			if p := t.findWildcard(host[i:], path, grpc); p != nil {
				return p
			}
		}
	}
	return t.findPath("", path, grpc)
}

// findWildcard searches the pools of "*" followed by parent, which begins with a
// dot.
func (t *table) findWildcard(parent, path string, grpc bool) *pool {
	var room [128]byte
	name := append(append(room[:0], '*'), parent...)
	if t.hosts[maphash.Bytes(seed, name)%shards][string(name)] == 0 {
		return nil
	}
	return t.findPath(string(name), path, grpc)
}

func (t *table) findPath(host, path string, grpc bool) *pool {
	if !t.hasHost(host) {
		return nil
	}
	end := len(path)
	if end > t.longest {
		end = max(strings.LastIndexByte(path[:t.longest+1], '/'), 0)
	}
	for {
		k := poolKey{host: host, path: path[:end], grpc: grpc}
		if p := t.get(k); p != nil {
			return p
		}
		k.grpc = !grpc
		if p := t.get(k); p != nil {
			return p
		}
		if end == 0 {
			return nil
		}
		end = max(strings.LastIndexByte(path[:end], '/'), 0)
	}
}
