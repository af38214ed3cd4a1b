// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"bytes"
	"strings"
)

// cutTarget splits a target in origin form at its query, whose ? stays with it.
// The path is the one that is both matched and passed on, so that no instance
// sees another path than the one its route was chosen by: escapes that need not
// be are taken out of it, and . and .. are resolved.
func cutTarget(target []byte) (path string, query []byte) {
	p := target
	if i := bytes.IndexByte(target, '?'); i >= 0 {
		p, query = target[:i], target[i:]
	}
	if bytes.IndexByte(p, '%') < 0 && !bytes.Contains(p, []byte("/.")) {
		return view(p), query
	}
	return resolve(unescape(p)), query
}

// areEscapes reports whether every % of a target's path begins an escape. One
// that does not would be read in as many ways as there are programs.
func areEscapes(target []byte) bool {
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

// unescape takes out escapes of characters that mean the same without, as RFC
// 3986 has it. All must be escapes.
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

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

func isUnreserved(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// resolve takes . and .. out of a path that begins with a slash. Empty segments
// stay.
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

// stripped is a path without a route's, which it begins with.
func stripped(path, route string) string {
	path = path[len(strings.TrimRight(route, "/")):]
	if path == "" {
		return "/"
	}
	return path
}

// hostName is a host as tables have it: in lower case, without port and final
// dot.
func hostName(host []byte) string {
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
	return view(h)
}
