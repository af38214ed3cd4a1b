// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// CheckSite returns why a request may not be one that a person or a program of
// this machine meant for this agent; nil if it may. A name that the agent does
// not have comes from a page whose site gave its own name the agent's address.
func (d *Door) CheckSite(r *http.Request) error {
	if !d.knows(r.Host) {
		return api.Errorf(api.CodeForbidden, "host %q is not this agent: use localhost, or a loopback address, or name it in the agent's configuration, as in http { hosts = [\"reeve.example.com\"] }", r.Host)
	}
	if !sameSite(r) {
		return api.Errorf(api.CodeForbidden, "a page of another site may not use this API")
	}
	return nil
}

// knows reports whether a Host, with or without a port, is this agent.
func (d *Door) knows(host string) bool {
	name, ok := cutPort(host)
	if !ok {
		return false
	}
	if address, ok := strings.CutPrefix(name, "["); ok {
		ip, err := netip.ParseAddr(strings.TrimSuffix(address, "]"))
		return err == nil && ip.Is6() && ip.Zone() == "" && ip.Unmap().IsLoopback()
	}
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.Is4() && ip.IsLoopback()
	}
	name = canonical(name)
	return name == "localhost" || slices.Contains(d.Hosts, name)
}

// cutPort takes the port off a host, if it has one.
func cutPort(host string) (name string, ok bool) {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.HasSuffix(host, "]") {
		return host, host != ""
	}
	if _, err := strconv.ParseUint(host[i+1:], 10, 16); err != nil {
		return "", false
	}
	return host[:i], i > 0
}

// canonical is the one spelling of a host's name.
func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// isName reports whether a name can be a host's.
func isName(name string) bool {
	name = canonical(name)
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return net.ParseIP(name) == nil
}

// sameSite reports whether no page of another site sent the request. Browsers
// say where a request comes from; other programs say nothing. Following a link
// of another site is not refused: its page does not see the answer.
func sameSite(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
			return false
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Upgrade") == ""
}
