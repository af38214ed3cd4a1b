// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package catalogentry

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// Choose returns n of the registrations for a key, the best first: the same for
// the same key, and as few others as possible when registrations come and go
// (rendezvous hashing: each is weighed with the key on its own).
func Choose(all []*api.ServiceRegistration, n int, key string) []*api.ServiceRegistration {
	type weighed struct {
		of    *api.ServiceRegistration
		score uint64
	}
	scores := make([]weighed, len(all))
	for i, r := range all {
		scores[i] = weighed{r, score(key, r.ID)}
	}
	slices.SortFunc(scores, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.of.ID, b.of.ID))
	})
	chosen := make([]*api.ServiceRegistration, min(n, len(all)))
	for i := range chosen {
		chosen[i] = scores[i].of
	}
	return chosen
}

// score mixes the key and the id. FNV alone leaves what came last in the low
// bits; the final steps, those of MurmurHash3, spread it.
func score(key, id string) uint64 {
	h := fnv.New64a()
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(key)))
	h.Write(length[:])
	h.Write([]byte(key))
	h.Write([]byte(id))
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return x
}
