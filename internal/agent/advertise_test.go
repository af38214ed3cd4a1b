// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import "testing"

func TestAdvertisedAddress(t *testing.T) {
	for _, c := range []struct{ given, bound, toward, want string }{
		{"", "10.0.0.1:4700", "", "10.0.0.1:4700"},
		{"", "127.0.0.1:4700", "10.0.0.9:4646", "127.0.0.1:4700"},
		{"10.0.0.2", "0.0.0.0:4646", "", "10.0.0.2:4646"},
		{"10.0.0.2:80", "0.0.0.0:4646", "", "10.0.0.2:80"},
		{"reeve-1.example.com", "0.0.0.0:4646", "", "reeve-1.example.com:4646"},
		{"fd00::1", "[::]:4646", "", "[fd00::1]:4646"},
		{"[fd00::1]:80", "[::]:4646", "", "[fd00::1]:80"},
		{"", "0.0.0.0:4646", "127.0.0.1:4646", "127.0.0.1:4646"},
		{"", "[::]:4646", "[::1]:4646", "[::1]:4646"},
	} {
		if got, err := advertised(c.given, c.bound, c.toward); err != nil || got != c.want {
			t.Errorf("advertised(%q, %q, %q) = %q, %v; want %q", c.given, c.bound, c.toward, got, err, c.want)
		}
	}
	if _, err := advertised("", "nonsense", ""); err == nil {
		t.Error("an address without a port is accepted")
	}
}
