// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "testing"

func TestForeignTextIsMadePrintable(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"plain", "plain"},
		{"a\tb\r\nc  \n", "a b  c"},
		{"\x1b[31mred\x1b[0m", "red"},
		{"\x1b]0;title\x07after", "after"},
		{"\x1b]8;;http://x\x1b\\link", "link"},
		{"cut off \x1b", "cut off"},
		{"bell\a back\b null\x00", "bell back null"},
		{"right\u202eto left", "rightto left"},
		{"not \xff UTF-8", "not  UTF-8"},
		{"c1 \u009b31m", "c1 31m"},
		{"0123456789abcdef", "0123456789..."},
		{"ééééééééééé", "éééééééééé..."},
	} {
		limit := 100
		if len(test.want) >= 13 && test.want[len(test.want)-3:] == "..." {
			limit = 10
		}
		if got := Printable(test.text, limit); got != test.want {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
	}
}
