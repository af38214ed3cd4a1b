// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"errors"
	"net"

	"github.com/reeve-run/reeve/internal/dns"
)

// openDNS listens on the name server's address. A second development agent without a
// configured address uses a free port.
func (a *Agent) openDNS() (err error) {
	d := a.config.DNS
	config := dns.Config{Address: d.Address, Zone: d.Zone, TTL: d.TTL, Upstreams: d.Upstreams, Client: a.client, Logger: a.log}
	chosen := config.Address == ""
	if chosen {
		config.Address = DefaultDNSAddr
	}
	a.dns, err = dns.Listen(config)
	if taken := new(dns.TakenError); chosen && a.config.Dev && errors.As(err, &taken) {
		host, _, _ := net.SplitHostPort(config.Address)
		config.Address = net.JoinHostPort(host, "0")
		a.dns, err = dns.Listen(config)
	}
	return err
}

// DNS returns the address of the name server, and its zone; both are "" without one.
func (a *Agent) DNS() (address, zone string) {
	if a.dns == nil {
		return "", ""
	}
	return a.dns.Addr(), a.dns.Zone()
}
