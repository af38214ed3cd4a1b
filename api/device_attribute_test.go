// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "testing"

func TestDeviceAttributesCompareByWhatTheyAreWorth(t *testing.T) {
	for _, test := range []struct {
		a, b  string
		order int
		ok    bool
	}{
		{"11 GiB", "10 GiB", 1, true},
		{"1 GiB", "1024 MiB", 0, true},
		{"1 GiB", "1 GB", 1, true},
		{"1000 MB", "1 GB", 0, true},
		{"1.5GHz", "1500 MHz", 0, true},
		{"1.4 GHz", "1500MHz", -1, true},
		{"9", "10", -1, true},
		{"9.5", "10", -1, true},
		{"0.1", "0.1", 0, true},
		{"250 W", "0.25 kW", 0, true},
		{"10 GiB", "10", 0, false},
		{"10 GiB", "10 GiB/s", 0, false},
		{"10 GiB", "10 GHz", 0, false},
		{"true", "true", 0, true},
		{"true", "false", 1, true},
		{"true", "yes", 0, false},
		{"a100", "h100", -1, true},
		{"10 parrots", "9 parrots", -1, true}, // text
		{"", "", 0, true},
	} {
		order, ok := ParseDeviceAttribute(test.a).Compare(ParseDeviceAttribute(test.b))
		if order != test.order || ok != test.ok {
			t.Errorf("%q against %q = %d, %t; want %d, %t", test.a, test.b, order, ok, test.order, test.ok)
		}
	}
	if _, ok := (*DeviceAttribute)(nil).Compare(ParseDeviceAttribute("1")); ok {
		t.Error("a value that does not exist compares")
	}
}

func TestDeviceAttributesReadAsTheyAreWritten(t *testing.T) {
	for in, want := range map[string]string{"11GiB": "11 GiB", " 2 ": "2", "1.50": "1.5", "true": "true", "A 100": "A 100", "-3 W": "-3 W", "12 apples": "12 apples"} {
		if got := ParseDeviceAttribute(in).Text(); got != want {
			t.Errorf("%q reads as %q, want %q", in, got, want)
		}
	}
}
