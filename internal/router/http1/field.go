// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import "bytes"

// A Field is one line of a head, without its end. Its slices share the memory of
// the parsed head.
type Field struct {
	Line, Name, Value []byte
	Kind              Kind
}

// A Kind tells how a proxy treats a field.
type Kind uint8

// Kinds of fields.
const (
	Plain Kind = iota
	Hop        // for one connection only: never forwarded
	Host
	ContentLength
	TransferEncoding
	Connection
	Upgrade
	Expect
	TE
	Forwarded // set by proxies: Forwarded, X-Real-IP, X-Forwarded-Port, X-Forwarded-Prefix
	ForwardedFor
	ForwardedProto
	ForwardedHost
	RequestID
	Stack // the stack that the client asks for
	Cookie
	ContentType
)

// KindOf returns the kind of the field with a name. It compares only the names
// of the same length.
func KindOf(name []byte) Kind {
	is := func(lower string, k Kind) Kind {
		if EqualFold(name, lower) {
			return k
		}
		return Plain
	}
	switch len(name) {
	case 2:
		return is("te", TE)
	case 4:
		return is("host", Host)
	case 5:
		return is("proxy", Hop) // CGI turns it into HTTP_PROXY, which HTTP clients obey
	case 6:
		if k := is("cookie", Cookie); k != Plain {
			return k
		}
		return is("expect", Expect)
	case 7:
		return is("upgrade", Upgrade)
	case 9:
		if k := is("forwarded", Forwarded); k != Plain {
			return k
		}
		return is("x-real-ip", Forwarded)
	case 10:
		if k := is("connection", Connection); k != Plain {
			return k
		}
		return is("keep-alive", Hop)
	case 11:
		return is("reeve-stack", Stack)
	case 12:
		if k := is("content-type", ContentType); k != Plain {
			return k
		}
		return is("x-request-id", RequestID)
	case 14:
		if k := is("content-length", ContentLength); k != Plain {
			return k
		}
		return is("http2-settings", Hop)
	case 15:
		return is("x-forwarded-for", ForwardedFor)
	case 16:
		switch {
		case EqualFold(name, "proxy-connection"):
			return Hop
		case EqualFold(name, "x-forwarded-host"):
			return ForwardedHost
		}
		return is("x-forwarded-port", Forwarded)
	case 17:
		if k := is("transfer-encoding", TransferEncoding); k != Plain {
			return k
		}
		return is("x-forwarded-proto", ForwardedProto)
	case 18:
		if k := is("x-forwarded-prefix", Forwarded); k != Plain {
			return k
		}
		return is("proxy-authenticate", Hop)
	case 19:
		return is("proxy-authorization", Hop)
	}
	return Plain
}

// longestKind is the length of the longest name that KindOf knows.
const longestKind = 19

// LooksLikeAnother reports whether a program could mistake a name for one that
// KindOf knows: many programs do not distinguish X_Forwarded_For from
// X-Forwarded-For.
func LooksLikeAnother(name []byte) bool {
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
	return KindOf(dashed) != Plain
}
