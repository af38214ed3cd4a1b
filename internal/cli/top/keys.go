// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package top

import "unicode/utf8"

// A Key is a printable character, or one of the constants below.
type Key rune

// Keys without a printable character. They lie outside of Unicode.
const (
	KeyEnter Key = utf8.MaxRune + 1 + iota
	KeyEscape
	KeyBackspace
	KeyTab
	KeyBackTab
	KeyUp
	KeyDown
	KeyPageUp
	KeyPageDown
	KeyInterrupt
)

// sequences are the escape sequences of keys.
var sequences = map[string]Key{
	"\x1b[A": KeyUp, "\x1b[B": KeyDown, "\x1bOA": KeyUp, "\x1bOB": KeyDown,
	"\x1b[5~": KeyPageUp, "\x1b[6~": KeyPageDown, "\x1b[Z": KeyBackTab,
}

// Keys splits the bytes of one read from a terminal into keys. It drops sequences of other keys.
func Keys(input []byte) []Key {
	var keys []Key
	for len(input) > 0 {
		n := 1
		switch c := input[0]; {
		case c == 0x1b:
			var key Key
			if n = escapeLength(input); n == 1 {
				key = KeyEscape
			} else {
				key = sequences[string(input[:n])]
			}
			if key != 0 {
				keys = append(keys, key)
			}
		case c == '\r' || c == '\n':
			keys = append(keys, KeyEnter)
		case c == '\t':
			keys = append(keys, KeyTab)
		case c == 0x7f || c == 0x08:
			keys = append(keys, KeyBackspace)
		case c == 0x03 || c == 0x04:
			keys = append(keys, KeyInterrupt)
		case c >= ' ':
			var r rune
			if r, n = utf8.DecodeRune(input); r != utf8.RuneError {
				keys = append(keys, Key(r))
			}
		}
		input = input[n:]
	}
	return keys
}

// escapeLength returns the length of the escape sequence at the beginning of input. A lone
// escape, and one before another key, has the length 1.
func escapeLength(input []byte) int {
	if len(input) < 3 || input[1] != '[' && input[1] != 'O' {
		return 1
	}
	for i := 2; i < len(input); i++ {
		if input[i] >= '@' && input[i] <= '~' {
			return i + 1
		}
	}
	return len(input)
}
