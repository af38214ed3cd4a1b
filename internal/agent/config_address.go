// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"net"
	"strconv"
)

func (c *Config) mergeAddress(f fileConfig) {
	if f.BindAddr == "" && (f.Ports == nil || f.Ports.HTTP == 0) {
		return
	}
	if c.HTTPAddr == "" {
		c.HTTPAddr = DefaultHTTPAddr
	}
	host, port, err := net.SplitHostPort(c.HTTPAddr)
	if err != nil {
		return // Validate reports it
	}
	override(&host, f.BindAddr)
	if f.Ports != nil && f.Ports.HTTP != 0 {
		port = strconv.Itoa(f.Ports.HTTP)
	}
	c.HTTPAddr = net.JoinHostPort(host, port)
}
