// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package view writes api objects as text for people, one noun per file. Its
// functions write to a page. They do no I/O, and fetch nothing.
package view

import (
	"strconv"
)

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// orWord returns s, or the word if s is empty.
func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}

func unlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
