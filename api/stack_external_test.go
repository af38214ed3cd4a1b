// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"
)

func TestAddressesOfStacksLeadEveryRouterToOneMachine(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"10.0.0.7:5432", "10.0.0.7:5432"},
		{"203.0.113.9:1", "203.0.113.9:1"},
		{"[2001:DB8:0::7]:65535", "[2001:db8::7]:65535"},
		{"[fd00::1]:80", "[fd00::1]:80"},
		{"[::ffff:10.0.0.7]:80", "10.0.0.7:80"},
		{"", "IP address and a port"},
		{"10.0.0.7", "IP address and a port"},
		{"db.example.com:5432", "do not resolve names"},
		{"localhost:80", "do not resolve names"},
		{"http://10.0.0.7:80", "IP address and a port"},
		{"010.0.0.7:80", "IP address and a port"},
		{"0x7f.1:80", "IP address and a port"},
		{"2130706433:80", "IP address and a port"},
		{"10.0.0.7:80\r\nHost: x", "IP address and a port"},
		{"10.0.0.7:65536", "IP address and a port"},
		{"10.0.0.7:-1", "IP address and a port"},
		{"10.0.0.7:0", "port 0"},
		{"127.0.0.1:4646", "loopback"},
		{"127.255.255.254:80", "loopback"},
		{"[::1]:80", "loopback"},
		{"[::ffff:127.0.0.1]:80", "loopback"},
		{"169.254.169.254:80", "link-local"},
		{"[::ffff:169.254.169.254]:80", "link-local"},
		{"[fe80::1]:80", "link-local"},
		{"[fe80::1%eth0]:80", "link-local"},
		{"[2001:db8::1%eth0]:80", "link-local"},
		{"0.0.0.0:80", "one machine"},
		{"0.1.2.3:80", "one machine"},
		{"[::]:80", "one machine"},
		{"224.0.0.1:80", "one machine"},
		{"[ff02::1]:80", "one machine"},
		{"255.255.255.255:80", "one machine"},
	} {
		got, err := ParseStackAddress(test.text, false)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) || err == nil && got != test.want {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
	}
	if got, err := ParseStackAddress("127.0.0.1:80", true); err != nil || got != "127.0.0.1:80" {
		t.Errorf("loopback for development: %q, %v", got, err)
	}
	if _, err := ParseStackAddress("169.254.169.254:80", true); err == nil {
		t.Error("a link-local address is allowed for development")
	}
}
