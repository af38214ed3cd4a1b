// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

// An asked holds the parts of a request that decide which pool serves it.
type asked struct {
	host, path string
	grpc       bool
	stack      string // value of the field Reeve-Stack
	stacks     int    // number of such fields
	target     string // as the client sent it
	tls        bool   // reports whether the router decrypted the request
	secure     bool   // reports whether the router or a trusted proxy received the request over HTTPS
	peer       netip.Addr
	trusted    bool // reports whether the peer is a trusted proxy
	origin     origin
}

// An origin returns the addresses that proxies reported for a request, separated by commas: the
// values of X-Forwarded-For.
type origin interface{ forwardedFor() string }

// A chosen holds the pool of a request, or its refusal.
type chosen struct {
	pool    *pool // nil if no route leads from the host and path
	stack   string
	preview bool // reports whether the field Reeve-Stack chose the stack
	refused *refusal
}

// choose returns the pool of a request: that of a name of stacks, of a stack that the request
// previews, or of the route for its host and path. chosen.stack is the field Reeve-Stack that the
// instance receives.
func (r *Router) choose(t *table, q *asked) chosen {
	if name, ok := strings.CutSuffix(q.host, r.stackNames); ok {
		return r.chooseNamed(t, q, name)
	}
	if answer := r.answerChallenge(q); answer != nil {
		return chosen{refused: answer}
	}
	p := t.find(q.host, q.path, q.grpc)
	if refused := r.checkTLS(t, q, p); refused != nil {
		return chosen{refused: refused}
	}
	if t.previews > 0 && (p == nil || p.key.host != q.host) {
		if c, ok := r.chooseTagHost(t, q); ok {
			return c
		}
	}
	if q.stacks == 0 || p == nil {
		return chosen{pool: p}
	}
	return choosePreview(t, p, q)
}

// chooseNamed returns the pool of a name of stacks.
func (r *Router) chooseNamed(t *table, q *asked, text string) chosen {
	if !r.mayName(q) {
		return chosen{refused: &refusal{status: http.StatusForbidden, why: "the names of stacks are for clients in the networks stack_clients of the router's configuration"}}
	}
	name, ok := lifecycle.ParseName(text)
	selector, isSelector := lifecycle.ParseSelector(name.Selector)
	if !ok || !isSelector {
		return chosen{refused: &refusal{status: http.StatusNotFound, why: fmt.Sprintf(
			"%q does not name stacks: write SELECTOR.UNIT.NAMESPACE%s; the selector is a major version (1), a version to be at least (1-2), an exact version (1-2-0) or a tag",
			api.Printable(q.host, 200), r.stackNames)}}
	}
	if q.stacks > 0 && selector.Numbers > 0 && selector.Numbers < 3 {
		if c, ok := previewNamed(t, q, name, selector.Version.Feature()); ok {
			return c
		}
	}
	p, refused := findNamed(t, q, name, selector)
	c := chosen{pool: p, refused: refused}
	if q.stacks == 1 && isChainable(q.stack) {
		c.stack = q.stack
	}
	return c
}

// findNamed returns the pool of a name: it searches the caller's namespace and those around it for
// the unit, as dependencies do.
func findNamed(t *table, q *asked, name lifecycle.Name, selector lifecycle.Selector) (*pool, *refusal) {
	var nearest *unit
	for namespace := range name.Namespaces {
		u := t.unit(lifecycle.Place{Unit: name.Unit, Namespace: namespace})
		if u == nil {
			continue
		}
		if nearest == nil {
			nearest = u
		}
		if selector.Numbers == 1 || selector.Numbers == 2 {
			want := selector.Version.Feature()
			if !u.roster.HasMajor(want.Major) {
				continue
			}
			if p := u.ways[wayOf(q.grpc)].find(want); p != nil {
				return p, nil
			}
			return nil, noStack(q, name, u, selector)
		}
		if selection, found := u.roster.Select(selector); found {
			return u.firstOf(t, selection.Choices, q.grpc)
		}
	}
	return nil, noStack(q, name, nearest, selector)
}

// firstOf returns the pool of the first stack that has instances.
func (u *unit) firstOf(t *table, choices []lifecycle.Choice, grpc bool) (*pool, *refusal) {
	for _, c := range choices {
		if p := t.get(keyOfStack(u.roster.Namespace+"/"+c.Stack.Stack, grpc)); p != nil && len(p.targets) > 0 {
			return p, nil
		}
	}
	s := choices[0].Stack
	return nil, &refusal{status: http.StatusServiceUnavailable, why: fmt.Sprintf("stack %s (%s) has no instance that can take traffic", s.Stack, s.Status)}
}

// noStack refuses a name that no ready stack serves. The status tells whether waiting may help.
func noStack(q *asked, name lifecycle.Name, u *unit, selector lifecycle.Selector) *refusal {
	host := api.Printable(q.host, 200)
	if u == nil {
		return &refusal{status: http.StatusNotFound, why: fmt.Sprintf("no stack serves %q: namespace %s and those around it have no stack of unit %s; list units with: reeve unit list",
			host, api.Printable(namespaceOf(name), 200), api.Printable(name.Unit, 64))}
	}
	status, isMinimum := http.StatusNotFound, selector.Numbers == 1 || selector.Numbers == 2
	for _, s := range u.roster.Stacks {
		_, v, _, _ := api.ParseStackName(s.Stack)
		if isMinimum && v.Satisfies(selector.Version.Feature()) && s.IsComing() {
			status = http.StatusServiceUnavailable
		}
	}
	return &refusal{status: status, why: fmt.Sprintf("no ready stack serves %q: unit %s of namespace %s has %s", host, u.roster.Unit, u.roster.Namespace, u.roster)}
}

// namespaceOf returns the caller's namespace as users write it.
func namespaceOf(name lifecycle.Name) string {
	labels := strings.Split(name.Namespace, ".")
	slices.Reverse(labels)
	return strings.Join(labels, "/")
}

// privateNetworks are the networks whose clients may use the names of stacks unless the
// configuration names others. A router that faces the internet must not let its clients past
// the exposed hosts.
var privateNetworks = []netip.Prefix{
	netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("fc00::/7"), netip.MustParsePrefix("fe80::/10"),
}

// mayName reports whether a request may use the names of stacks: its peer is in one of the networks, and
// if that is a trusted proxy, so is the client that the proxy reports.
func (r *Router) mayName(q *asked) bool {
	if !contains(r.config.StackClients, q.peer) {
		return false
	}
	if !q.trusted || q.origin == nil {
		return true
	}
	for rest := q.origin.forwardedFor(); rest != ""; {
		i := strings.LastIndexByte(rest, ',')
		text := strings.TrimSpace(rest[i+1:])
		rest = rest[:max(i, 0)]
		address, err := netip.ParseAddr(text)
		if err != nil {
			return false
		}
		if address = address.Unmap().WithZone(""); !r.trusts(address) {
			return contains(r.config.StackClients, address)
		}
	}
	return true
}

func contains(networks []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(a) })
}
