// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// Names of the files of an allocation.
const (
	namespaceFile = "netns"
	hostsFile     = "hosts"
	resolverFile  = "resolv.conf"
)

// hostsText returns the content of the allocation's /etc/hosts.
func hostsText(r *Record) string {
	var b strings.Builder
	b.WriteString("127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n")
	for _, ip := range append(r.addresses(), r.plugged()...) {
		b.WriteString(ip.String() + " " + r.hostname() + "\n")
	}
	if r.Mode == ModeNone {
		b.WriteString("127.0.0.1 " + r.hostname() + "\n")
	}
	return b.String()
}

// resolverText returns the content of the allocation's /etc/resolv.conf: what the job says, and
// otherwise the node's name server or, without one, the machine's resolvers.
func resolverText(d *api.DNS, servers, searches, options []string) string {
	if d != nil && len(d.Servers) > 0 {
		servers = d.Servers
	}
	if d != nil && len(d.Searches) > 0 {
		searches = d.Searches
	}
	if d != nil && len(d.Options) > 0 {
		options = d.Options
	}
	var b strings.Builder
	for _, s := range servers {
		if ip, err := netip.ParseAddr(s); err == nil { // a job's values were checked; a file of the machine may hold anything
			b.WriteString("nameserver " + ip.String() + "\n")
		}
	}
	for _, line := range []struct {
		key    string
		values []string
	}{{"search", searches}, {"options", options}} {
		values := slices.DeleteFunc(slices.Clone(line.values), func(v string) bool { return !api.IsResolverWord(v) })
		if len(values) > 0 {
			b.WriteString(line.key + " " + strings.Join(values, " ") + "\n")
		}
	}
	return b.String()
}

// HostResolverText returns the content of the /etc/resolv.conf of a task in the machine's network, where also
// resolvers on loopback addresses answer.
func HostResolverText(d *api.DNS) string {
	host := HostResolvers(false)
	return resolverText(d, host.Servers, host.Searches, host.Options)
}

// Resolvers are the machine's own, from its /etc/resolv.conf.
type Resolvers struct{ Servers, Searches, Options []string }

// parseResolvers reads the format of /etc/resolv.conf.
func parseResolvers(text string) (r Resolvers) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		line, _, _ = strings.Cut(line, ";")
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		switch f[0] {
		case "nameserver":
			if ip, err := netip.ParseAddr(f[1]); err == nil {
				r.Servers = append(r.Servers, ip.String())
			}
		case "search", "domain":
			r.Searches = f[1:]
		case "options":
			r.Options = append(r.Options, f[1:]...)
		}
	}
	return r
}

// resolvers are files that may list the machine's resolvers, in order. The first one may name a
// resolver on the loopback address, which allocations do not reach.
var resolvers = []string{"/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"}

// HostResolvers returns the machine's resolvers. reachable leaves out those on loopback addresses.
func HostResolvers(reachable bool) (r Resolvers) {
	for _, path := range resolvers {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		found := parseResolvers(string(text))
		if reachable {
			found.Servers = slices.DeleteFunc(found.Servers, func(s string) bool {
				ip, err := netip.ParseAddr(s)
				return err != nil || ip.IsLoopback() || ip.IsUnspecified()
			})
		}
		if r.Searches == nil && r.Options == nil {
			r.Searches, r.Options = found.Searches, found.Options
		}
		if r.Servers = found.Servers; len(r.Servers) > 0 {
			return r
		}
	}
	return r
}

// writeFiles writes the allocation's files. They are in a directory of the agent, which no task
// can change.
func (f *Fabric) writeFiles(r *Record) error {
	dir := f.dir(r.Alloc)
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, hostsFile), hostsText(r)); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, resolverFile), f.resolverOf(r))
}

// resolverOf returns the text of the allocation's resolver file.
func (f *Fabric) resolverOf(r *Record) string {
	if r.isPlugged() {
		return pluggedResolver(r)
	}
	if r.Mode == ModeNone {
		return resolverText(r.DNS, nil, nil, nil)
	}
	host := HostResolvers(true)
	servers := host.Servers
	if f.names.Load() {
		servers = []string{r.Gateway.String()}
	}
	return resolverText(r.DNS, servers, host.Searches, host.Options)
}

// writeFile replaces the content of a file in place: tasks have bound the file.
func writeFile(path, text string) error {
	if now, err := os.ReadFile(path); err == nil && string(now) == text {
		return nil
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
