// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResolverOfAGroupInTheHostsNetwork(t *testing.T) {
	d := &DNS{Servers: []string{"192.0.2.53"}, Searches: []string{"example.com"}}
	group := func(mode, driver string) *Job {
		return &Job{Region: "global", Groups: []*Group{{Name: "g", Networks: []*Network{{Mode: mode, DNS: d}}, Tasks: []*Task{{Name: "t", Driver: driver}}}}}
	}
	for _, c := range []struct{ mode, driver, want string }{
		{"host", "exec", ""}, {"", "container", ""}, {"bridge", "raw_exec", ""},
		{"host", "raw_exec", `group "g": network: the dns block with driver "raw_exec" of task "t" is not supported: its tasks have the node's resolver`},
	} {
		if got := strings.Join(Unsupported(group(c.mode, c.driver)), "\n"); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s, %s: %q, want %q", c.mode, c.driver, got, c.want)
		}
	}
	if got := group("bridge", "exec").Groups[0].HostDNS(); got != nil {
		t.Errorf("a group with its own network has the resolver %v", got)
	}
	config := &ContainerConfig{DNSSearch: []string{"own.example"}}
	config.UseDNS(d)
	config.UseDNS(nil)
	if diff := cmp.Diff([][]string{d.Servers, {"own.example"}, nil}, [][]string{config.DNSServers, config.DNSSearch, config.DNSOptions}); diff != "" {
		t.Error(diff)
	}
}
