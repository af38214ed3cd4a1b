// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// Bounds of the texts of a record, in bytes before and in characters after they are cleaned.
const (
	MaxPath   = 512
	MaxValue  = 128
	MaxReason = 512
)

// NewID returns the id of a request.
func NewID() string {
	var b [8]byte
	n := rand.Uint64()
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
	return hex.EncodeToString(b[:])
}

// Bounded returns the beginning of a text, without keeping the memory of the whole: the path and the
// parameters of a request may be parts of a long line.
func Bounded(text string, limit int) string {
	return strings.Clone(text[:min(len(text), limit)])
}

// clean makes the texts of a record that callers choose safe to print.
func clean(r *api.RequestRecord) {
	for _, text := range []struct {
		field *string
		limit int
	}{
		{&r.Path, MaxPath}, {&r.Route, MaxPath}, {&r.Reason, MaxReason}, {&r.Namespace, MaxValue}, {&r.Object, 2 * MaxValue},
		{&r.TokenName, MaxValue}, {&r.Accessor, MaxValue}, {&r.Address, MaxValue}, {&r.Via, MaxValue}, {&r.Method, MaxValue},
	} {
		if !isPlain(*text.field) || len(*text.field) > text.limit {
			*text.field = api.Printable(*text.field, text.limit)
		}
	}
	for name, value := range r.Query {
		if !isPlain(value) || len(value) > MaxValue {
			r.Query[name] = api.Printable(value, MaxValue)
		}
	}
}

// isPlain reports whether a text consists of printable ASCII characters.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}
