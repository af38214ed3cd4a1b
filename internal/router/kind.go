// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import "bytes"

// A kind is a field that the router has something to do with.
type kind uint8

const (
	plain kind = iota
	hop        // for one connection: never passed on
	fieldHost
	fieldLength
	fieldEncoding
	fieldConnection
	fieldUpgrade
	fieldExpect
	fieldTE
	fieldForwarded // what the router says itself: X-Forwarded-For and the like
	fieldForwardedFor
	fieldForwardedProto
	fieldForwardedHost
	fieldRequestID
	fieldCookie
	fieldContentType
)

// kindOf finds a field's kind by its length first.
func kindOf(name []byte) kind {
	is := func(lower string, k kind) kind {
		if equalFold(name, lower) {
			return k
		}
		return plain
	}
	switch len(name) {
	case 2:
		return is("te", fieldTE)
	case 4:
		return is("host", fieldHost)
	case 5:
		return is("proxy", hop) // CGI makes HTTP_PROXY of it, which clients obey
	case 6:
		if k := is("cookie", fieldCookie); k != plain {
			return k
		}
		return is("expect", fieldExpect)
	case 7:
		return is("upgrade", fieldUpgrade)
	case 9:
		if k := is("forwarded", fieldForwarded); k != plain {
			return k
		}
		return is("x-real-ip", fieldForwarded)
	case 10:
		if k := is("connection", fieldConnection); k != plain {
			return k
		}
		return is("keep-alive", hop)
	case 12:
		if k := is("content-type", fieldContentType); k != plain {
			return k
		}
		return is("x-request-id", fieldRequestID)
	case 14:
		if k := is("content-length", fieldLength); k != plain {
			return k
		}
		return is("http2-settings", hop)
	case 15:
		return is("x-forwarded-for", fieldForwardedFor)
	case 16:
		switch {
		case equalFold(name, "proxy-connection"):
			return hop
		case equalFold(name, "x-forwarded-host"):
			return fieldForwardedHost
		}
		return is("x-forwarded-port", fieldForwarded)
	case 17:
		if k := is("transfer-encoding", fieldEncoding); k != plain {
			return k
		}
		return is("x-forwarded-proto", fieldForwardedProto)
	case 18:
		if k := is("x-forwarded-prefix", fieldForwarded); k != plain {
			return k
		}
		return is("proxy-authenticate", hop)
	case 19:
		return is("proxy-authorization", hop)
	}
	return plain
}

// longestKind is the length of the longest name that kindOf knows.
const longestKind = 19

// looksLikeAnother reports whether a field could be taken for one that the
// router has something to do with: many programs do not tell X_Forwarded_For
// from X-Forwarded-For.
func looksLikeAnother(name []byte) bool {
	if len(name) > longestKind || bytes.IndexByte(name, '_') < 0 {
		return false
	}
	var room [longestKind]byte
	dashed := room[:copy(room[:], name)]
	for i, c := range dashed {
		if c == '_' {
			dashed[i] = '-'
		}
	}
	return kindOf(dashed) != plain
}
