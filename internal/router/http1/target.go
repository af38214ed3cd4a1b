// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"bytes"
	"net/http"
	"strings"
)

var (
	slash     = []byte("/")
	badEscape = bad("the path has a % that is not followed by two hexadecimal digits")
)

// ParseTarget converts the target of a request to origin form. For a target in
// absolute form it also returns the target's host, otherwise nil.
func ParseTarget(method, target []byte) (host, origin []byte, err *Error) {
	const scheme = "http://"
	switch {
	case string(method) == http.MethodConnect:
		return nil, nil, &Error{http.StatusMethodNotAllowed, "CONNECT is for proxies that clients are set up to use"}
	case len(target) > 0 && target[0] == '/':
		origin = target
	case string(target) == "*" && string(method) == http.MethodOptions:
		return nil, target, nil
	case len(target) > len(scheme) && EqualFold(target[:len(scheme)], scheme):
		if host, origin, err = splitAbsolute(target[len(scheme):]); err != nil {
			return nil, nil, err
		}
	default:
		return nil, nil, bad("the target is not a path")
	}
	if !hasValidEscapes(origin) {
		return nil, nil, badEscape
	}
	return host, origin, nil
}

// splitAbsolute splits a target in absolute form, without its scheme.
func splitAbsolute(rest []byte) (host, origin []byte, err *Error) {
	end := bytes.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	host, origin = rest[:end], rest[end:]
	switch {
	case end == 0 || !IsHost(host):
		return nil, nil, bad("the target's host is not a name with a port")
	case len(origin) == 0:
		return host, slash, nil
	case origin[0] == '?':
		return nil, nil, bad("the target has no path")
	}
	return host, origin, nil
}

// hasValidEscapes reports whether every % in a target's path begins an escape.
// Programs disagree about the meaning of any other %.
func hasValidEscapes(target []byte) bool {
	for i, c := range target {
		switch {
		case c == '?':
			return true
		case c == '%' && (i+2 >= len(target) || hexDigit(target[i+1]) < 0 || hexDigit(target[i+2]) < 0):
			return false
		}
	}
	return true
}

// SplitTarget splits a target in origin form before the ? of its query, and
// normalizes the path: it decodes unnecessary escapes, and resolves . and .. . The
// proxy both matches and forwards this path, so that no instance receives a path
// other than the one that its route matched.
func SplitTarget(target []byte) (path string, query []byte) {
	p := target
	if i := bytes.IndexByte(target, '?'); i >= 0 {
		p, query = target[:i], target[i:]
	}
	if bytes.IndexByte(p, '%') < 0 && !bytes.Contains(p, []byte("/.")) {
		return View(p), query
	}
	return resolve(unescape(p)), query
}

// unescape decodes the escapes of unreserved characters, which RFC 3986 defines
// as equivalent. Every % in p begins an escape.
func unescape(p []byte) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		if p[i] == '%' && i+2 < len(p) {
			if c := byte(hexDigit(p[i+1])<<4 | hexDigit(p[i+2])); isUnreserved(c) {
				b.WriteByte(c)
				i += 2
				continue
			}
		}
		b.WriteByte(p[i])
	}
	return b.String()
}

func isUnreserved(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// resolve removes the segments . and .. from a path that begins with a slash. It
// keeps empty segments.
func resolve(p string) string {
	if !strings.Contains(p, "/.") {
		return p
	}
	var kept []string
	segments := strings.Split(p[1:], "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch {
		case s != "." && s != "..":
			kept = append(kept, s)
			continue
		case s == ".." && len(kept) > 0:
			kept = kept[:len(kept)-1]
		}
		if last {
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/")
}

// HostName returns a host in lower case, without its port and final dot.
func HostName(host []byte) string {
	h := host
	if len(h) > 0 && h[0] == '[' {
		if i := bytes.IndexByte(h, ']'); i > 0 {
			h = h[1:i]
		}
	} else if i := bytes.LastIndexByte(h, ':'); i >= 0 {
		h = h[:i]
	}
	if len(h) > 0 && h[len(h)-1] == '.' {
		h = h[:len(h)-1]
	}
	for _, c := range h {
		if c >= 'A' && c <= 'Z' {
			return strings.ToLower(string(h))
		}
	}
	return View(h)
}
