// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"encoding/base64"
	"encoding/binary"
	"math/rand/v2"
)

// clientCookie is the name of the cookie that keeps a client on one stack of a host whose
// exposure is sticky. Its value is random, and its hash is the client's position between 0
// and 1. A shift moves the clients whose position is below the newer stack's share, so no
// router needs a table: while the share grows, each client moves at most once, and a reversal
// brings the same clients back. A client that chooses its value chooses only its position.
const clientCookie = "Reeve-Client"

// clientLength is the length of a valid value of the cookie.
const clientLength = 22

// anywhere is the position of a request that no cookie binds: each draw is random.
const anywhere = -1

// newClient returns the value of the cookie for a client without a valid one.
func newClient() string {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], rand.Uint64())
	binary.LittleEndian.PutUint64(b[8:], rand.Uint64())
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// isClient reports whether a router can have made the value of a cookie.
func isClient(value string) bool {
	if len(value) != clientLength {
		return false
	}
	for i := range len(value) {
		c := value[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// positionOf returns the position of a client, from 0 to below 1. All routers compute the same
// one. FNV-1a leaves the last bytes in the low bits; the final steps, those of MurmurHash3, spread them.
func positionOf(client string) float64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(client) {
		h = (h ^ uint64(client[i])) * 0x100000001b3
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return float64(h>>11) / (1 << 53)
}

// clientOf returns the position of a client with a cookie, and the value of a new cookie if it
// has no valid one.
func clientOf(cookie string) (position float64, fresh string) {
	if isClient(cookie) {
		return positionOf(cookie), ""
	}
	fresh = newClient()
	return positionOf(fresh), fresh
}

// setCookie returns the value of a Set-Cookie field. With secure, the client sends the cookie
// over HTTPS alone.
func setCookie(name, value, path string, secure bool) string {
	field := name + "=" + value + "; Path=" + path + "; HttpOnly; SameSite=Lax"
	if secure {
		field += "; Secure"
	}
	return field
}
