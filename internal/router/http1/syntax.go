// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"bytes"
	"net/netip"
	"unsafe"
)

// Classes of bytes, as RFC 9110 and RFC 9112 define them.
const (
	isToken  = 1 << iota // in a method or a field's name
	isValue              // in a field's value
	isTarget             // in a request's target
	isHost               // in a host with its port
)

var class = func() (t [256]byte) {
	for i := range t {
		c := byte(i)
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		if letter || bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), c) >= 0 {
			t[i] |= isToken
		}
		if c == '\t' || c >= ' ' && c != 0x7f {
			t[i] |= isValue
		}
		if c > ' ' && c != 0x7f && c != '#' {
			t[i] |= isTarget
		}
		if letter || bytes.IndexByte([]byte("-._:[]"), c) >= 0 {
			t[i] |= isHost
		}
	}
	return t
}()

// all reports whether all bytes belong to a class.
func all(b []byte, of byte) bool {
	for _, c := range b {
		if class[c]&of == 0 {
			return false
		}
	}
	return true
}

// IsToken reports whether b consists of the characters of methods and field
// names. An empty b does.
func IsToken(b []byte) bool { return all(b, isToken) }

// IsHost reports whether b is a name, an IPv4 address or an IPv6 address in
// brackets, and optionally a port. An empty b is one.
func IsHost(b []byte) bool {
	if !all(b, isHost) {
		return false
	}
	name, port := b, []byte(nil)
	if len(b) > 0 && b[0] == '[' {
		end := bytes.IndexByte(b, ']')
		if end < 0 {
			return false
		}
		if a, err := netip.ParseAddr(View(b[1:end])); err != nil || !a.Is6() {
			return false
		}
		name, port = nil, b[end+1:]
	} else if i := bytes.IndexByte(b, ':'); i >= 0 {
		name, port = b[:i], b[i:]
	}
	return bytes.IndexByte(name, '[') < 0 && bytes.IndexByte(name, ']') < 0 && isPort(port)
}

// isPort reports whether b is empty, or a colon and decimal digits.
func isPort(b []byte) bool {
	if len(b) > 0 && b[0] != ':' {
		return false
	}
	for i := 1; i < len(b); i++ {
		if b[i] < '0' || b[i] > '9' {
			return false
		}
	}
	return true
}

// IsTarget reports whether b consists of the characters of a request's target.
// An empty b does.
func IsTarget(b []byte) bool { return all(b, isTarget) }

// EqualFold compares b with a word in lower case, ignoring the case of ASCII
// letters.
func EqualFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// Trim removes spaces and tabs from both ends.
func Trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// View returns a string that shares its bytes with b. The caller must not change
// b while the string is in use.
func View(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// decimal parses a number without sign or spaces.
func decimal(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// nextToken splits a comma-separated list after its first element.
func nextToken(list []byte) (token, rest []byte) {
	i := bytes.IndexByte(list, ',')
	if i < 0 {
		return Trim(list), nil
	}
	return Trim(list[:i]), list[i+1:]
}

// hasToken reports whether a comma-separated list contains a word, which is in
// lower case.
func hasToken(list []byte, word string) bool {
	for len(list) > 0 {
		var token []byte
		if token, list = nextToken(list); EqualFold(token, word) {
			return true
		}
	}
	return false
}

// hexDigit returns the value of a hexadecimal digit, or -1.
func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
