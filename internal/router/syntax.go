// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import "bytes"

// What bytes may stand where, as RFC 9110 and 9112 have it.
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

// all reports whether all bytes are of a class.
func all(b []byte, of byte) bool {
	for _, c := range b {
		if class[c]&of == 0 {
			return false
		}
	}
	return true
}

// equalFold compares with a word in lower case.
func equalFold(b []byte, lower string) bool {
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

// trim takes spaces and tabs off both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// decimal reads a number without sign or spaces.
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

// nextToken splits a comma-separated list.
func nextToken(list []byte) (token, rest []byte) {
	i := bytes.IndexByte(list, ',')
	if i < 0 {
		return trim(list), nil
	}
	return trim(list[:i]), list[i+1:]
}
