// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package uiproxy

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/socket"
)

// visitors decides who may use a proxy.
type visitors struct {
	address string   // of the proxy, as host:port
	hosts   []string // that requests may have
	users   []uint32 // who may connect
	userOf  func(local, remote netip.AddrPort) (uint32, error)
	door    *door.Door // knows pages of other sites
}

func newVisitors(address string, userOf func(local, remote netip.AddrPort) (uint32, error)) (visitors, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return visitors{}, err
	}
	if userOf == nil {
		userOf = func(local, remote netip.AddrPort) (uint32, error) {
			s, err := socket.Find(local, remote)
			return s.UID, err
		}
	}
	d, err := door.New(door.Config{})
	return visitors{address: address, hosts: []string{address, "localhost:" + port}, users: trustedUsers(), userOf: userOf, door: d}, err
}

// trustedUsers returns this process's user, root, and the user who became root through sudo.
func trustedUsers() []uint32 {
	users := []uint32{0, uint32(os.Geteuid())}
	if uid, err := strconv.ParseUint(os.Getenv("SUDO_UID"), 10, 32); err == nil {
		users = append(users, uint32(uid))
	}
	return users
}

type visitorKey struct{}

// A visitor is the user at the other end of a connection.
type visitor struct {
	uid uint32
	err error
}

// mark attaches the visitor to the context of a connection's requests.
func (v *visitors) mark(ctx context.Context, c net.Conn) context.Context {
	local, err1 := netip.ParseAddrPort(c.LocalAddr().String())
	remote, err2 := netip.ParseAddrPort(c.RemoteAddr().String())
	who := visitor{err: errors.Join(err1, err2)}
	if who.err == nil {
		who.uid, who.err = v.userOf(local, remote)
	}
	return context.WithValue(ctx, visitorKey{}, who)
}

// check returns the reason to refuse a request; nil if the user of the proxy may have meant it.
func (v *visitors) check(r *http.Request) error {
	who, ok := r.Context().Value(visitorKey{}).(visitor)
	switch {
	case !ok || who.err != nil:
		return api.Errorf(api.CodeForbidden, "the user of this connection cannot be identified: %v", who.err)
	case !slices.Contains(v.users, who.uid):
		return api.Errorf(api.CodeForbidden, "this web UI is for the user who started it: run `reeve ui` as your own user")
	case !slices.Contains(v.hosts, strings.ToLower(r.Host)):
		return api.Errorf(api.CodeForbidden, "host %.100q is not this web UI, which is at http://%s/ui/", r.Host, v.address)
	}
	return v.door.CheckSite(r)
}
