// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cni

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// Bounds of a result.
const (
	maxResult    = 128 << 10 // the node's ledger keeps it
	maxResolvers = 32
)

// A Result is the answer of a chain of plugins.
type Result struct {
	Raw       json.RawMessage `json:",omitempty"` // for the DEL of the same chain
	Interface string          // inside; "": not known
	Address   netip.Addr      // invalid: none
	Address6  netip.Addr      // invalid: none
	Servers   []string        // addresses of resolvers
	Searches  []string
	Options   []string
}

// An answer holds the fields of results of all versions.
type answer struct {
	Version    string `json:"cniVersion"`
	Interfaces []struct {
		Name    string `json:"name"`
		Sandbox string `json:"sandbox"`
	} `json:"interfaces"`
	IPs []struct {
		Address   string `json:"address"`
		Interface *int   `json:"interface"`
	} `json:"ips"`
	IP4 *address `json:"ip4"` // before 0.3.0
	IP6 *address `json:"ip6"`
	DNS struct {
		Servers  []string `json:"nameservers"`
		Domain   string   `json:"domain"`
		Searches []string `json:"search"`
		Options  []string `json:"options"`
	} `json:"dns"`
}

type address struct {
	IP string `json:"ip"`
}

// ParseResult reads the result of a plugin. Addresses of interfaces that are not in the namespace are
// not the container's.
func ParseResult(text []byte, namespace string) (*Result, error) {
	if len(text) > maxResult {
		return nil, fmt.Errorf("its result has %d bytes: at most %d are possible", len(text), maxResult)
	}
	if len(strings.TrimSpace(string(text))) == 0 {
		return nil, errors.New("it ended without a result")
	}
	var a *answer
	if err := json.Unmarshal(text, &a); err != nil || a == nil {
		return nil, fmt.Errorf("its result %q is no valid JSON object of the specification", api.Printable(string(text), 100))
	}
	if a.Version != "" && !slices.Contains(versions, a.Version) {
		return nil, fmt.Errorf("its result has the version %q: the known ones are %s", api.Printable(a.Version, 32), strings.Join(versions, ", "))
	}
	r := &Result{Raw: json.RawMessage(text)}
	for _, old := range []*address{a.IP4, a.IP6} {
		if old != nil {
			if err := r.take(old.IP); err != nil {
				return nil, err
			}
		}
	}
	for _, ip := range a.IPs {
		if i := ip.Interface; i != nil {
			if *i < 0 || *i >= len(a.Interfaces) {
				return nil, fmt.Errorf("its result gives the address %q to interface %d of %d", api.Printable(ip.Address, 64), *i, len(a.Interfaces))
			}
			if a.Interfaces[*i].Sandbox != namespace {
				continue // an address of the machine, or of somebody else
			}
			if r.Interface == "" {
				r.Interface = interfaceName(a.Interfaces[*i].Name)
			}
		}
		if err := r.take(ip.Address); err != nil {
			return nil, err
		}
	}
	for _, s := range a.DNS.Servers {
		if ip, err := netip.ParseAddr(s); err == nil && ip.Zone() == "" {
			r.Servers = append(r.Servers, ip.String())
		}
	}
	if len(a.DNS.Searches) == 0 && a.DNS.Domain != "" {
		a.DNS.Searches = []string{a.DNS.Domain}
	}
	r.Searches, r.Options = words(a.DNS.Searches), words(a.DNS.Options)
	r.Servers = r.Servers[:min(len(r.Servers), maxResolvers)]
	return r, nil
}

// take keeps the first address of each family.
func (r *Result) take(text string) error {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return fmt.Errorf("its result has the address %q, which must be one such as 192.0.2.2/24", api.Printable(text, 64))
	}
	switch ip := p.Addr().Unmap(); {
	case ip.IsUnspecified(), ip.IsLoopback(), ip.IsMulticast(), ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return fmt.Errorf("its result has the address %q, which no container can have", text)
	case ip.Is4() && !r.Address.IsValid():
		r.Address = ip
	case ip.Is6() && !r.Address6.IsValid():
		r.Address6 = ip
	}
	return nil
}

// interfaceName returns a name that the kernel accepts, or "".
func interfaceName(s string) string {
	if len(s) > 15 || strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' || c == '/' || c == ':' }) {
		return ""
	}
	return s
}

// words returns the texts that may stand in a resolver's file.
func words(texts []string) (kept []string) {
	for _, s := range texts {
		if api.IsResolverWord(s) && len(kept) < maxResolvers {
			kept = append(kept, s)
		}
	}
	return kept
}
