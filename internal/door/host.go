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

// CheckSite returns the reason why a user of this machine may not have meant a request for
// this agent; nil if it is acceptable. An unknown host name comes from a page whose site
// resolves its own name to the agent's address. With TLS, the agent's certificate prevents
// that, and no caller is identified by its user. Nor does a browser reach the socket of a task.
func (d *Door) CheckSite(r *http.Request) error {
	if r.TLS == nil && !IsTask(r) && !d.knows(r.Host) {
		return api.Errorf(api.CodeForbidden, "host %q is not this agent: use localhost, or a loopback address, or name it in the agent's configuration, as in http { hosts = [\"reeve.example.com\"] }", r.Host)
	}
	if !sameSite(r) {
		return api.Errorf(api.CodeForbidden, "a page of another site may not use this API")
	}
	return nil
}

// knows reports whether a Host, with or without a port, names this agent.
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

// cutPort removes the port from a host.
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

// canonical returns the canonical spelling of a host's name.
func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// isName reports whether a name is a valid host name.
func isName(name string) bool {
	name = canonical(name)
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return net.ParseIP(name) == nil
}

// sameSite reports whether no page of another site sent the request. Browsers report the
// origin of a request; other programs do not. A followed link of another site is admitted,
// because its page does not see the answer.
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
