// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"
	"testing"
)

func TestValidateNetwork(t *testing.T) {
	port := []Port{{Label: "http", To: 8080}}
	many := make([]Port, maxMappedPorts+1)
	for i := range many {
		many[i].Label = "p" + strings.Repeat("x", i)
	}
	for _, c := range []struct {
		name string
		n    Network
		want string // a part of the error; "" for none
	}{
		{"bridge", Network{Mode: NetworkBridge, DynamicPorts: port, Hostname: "db-1.example", DNS: &DNS{Servers: []string{"192.0.2.1", "2001:db8::1"}, Searches: []string{"a.example"}, Options: []string{"ndots:2"}}}, ""},
		{"none", Network{Mode: NetworkNone, Hostname: "db"}, ""},
		{"replaced", Network{Mode: NetworkBridge, Hostname: "db-${NOMAD_ALLOC_INDEX}", DNS: &DNS{Servers: []string{"${attr.unique.network.ip-address}"}}}, ""},
		{"ports without a network", Network{Mode: NetworkNone, DynamicPorts: port}, `port "http": mode "none" has no ports`},
		{"unknown mode", Network{Mode: "overlay"}, `mode = "overlay": must be "host", "bridge", "none" or "cni/NAME"`},
		{"too many ports", Network{Mode: NetworkBridge, DynamicPorts: many}, "it has 257 ports: at most 256"},
		{"port out of range", Network{Mode: NetworkBridge, DynamicPorts: []Port{{Label: "http", To: 65536}}}, "to = 65536 is not a port number"},
		{"hostname with a line", Network{Mode: NetworkBridge, Hostname: "a\n127.0.0.1 bank.example"}, "hostname = "},
		{"hostname with a space", Network{Mode: NetworkBridge, Hostname: "a b"}, "hostname = "},
		{"long hostname", Network{Mode: NetworkBridge, Hostname: strings.Repeat("a", 64)}, "at most 63"},
		{"hostname that begins with -", Network{Mode: NetworkBridge, Hostname: "-a"}, "hostname = "},
		{"server with a line", Network{Mode: NetworkBridge, DNS: &DNS{Servers: []string{"1.1.1.1\nnameserver 6.6.6.6"}}}, "dns: servers: "},
		{"server with a zone", Network{Mode: NetworkBridge, DNS: &DNS{Servers: []string{"fe80::1%eth0"}}}, "dns: servers: "},
		{"search with a line", Network{Mode: NetworkBridge, DNS: &DNS{Searches: []string{"a\noptions debug"}}}, "dns: searches: "},
		{"option with a space", Network{Mode: NetworkBridge, DNS: &DNS{Options: []string{"a b"}}}, "dns: options: "},
		{"too many searches", Network{Mode: NetworkBridge, DNS: &DNS{Searches: slices.Repeat([]string{"a"}, 33)}}, "searches has 33 entries"},
		{"plugins", Network{Mode: "cni/shop", DynamicPorts: port, Hostname: "a", CNI: &CNI{Args: map[string]string{"IP": "192.0.2.${NOMAD_ALLOC_INDEX}"}}}, ""},
		{"too many ports of plugins", Network{Mode: "cni/shop", DynamicPorts: many}, "it has 257 ports: at most 256"},
		{"network without a name", Network{Mode: "cni/"}, "the name after cni/"},
		{"network with a path", Network{Mode: "cni/../../etc/shadow"}, "the name after cni/"},
		{"network with a line", Network{Mode: "cni/a\nb"}, "the name after cni/"},
		{"two arguments in one", Network{Mode: "cni/shop", CNI: &CNI{Args: map[string]string{"a": "1;IP=192.0.2.9"}}}, "cni: args: the value of a"},
		{"argument with a line", Network{Mode: "cni/shop", CNI: &CNI{Args: map[string]string{"a": "1\n"}}}, "cni: args: the value of a"},
		{"key with a pair", Network{Mode: "cni/shop", CNI: &CNI{Args: map[string]string{"a=1;b": "1"}}}, "cni: args: the key"},
	} {
		j := canonical()
		j.Groups[0].Networks = []*Network{&c.n}
		j.Groups[0].Services, j.Groups[0].Routes = nil, nil
		for _, task := range j.Groups[0].Tasks {
			task.Services, task.Resources.Networks = nil, nil
		}
		err := j.Validate()
		text := ""
		if err != nil {
			text = strings.Join(err.(*Error).Detail, "\n")
		}
		if (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
		if c.want == "" && len(Unsupported(j)) > 0 {
			t.Errorf("%s: %q", c.name, Unsupported(j))
		}
	}
}

func TestNetworksOfTheNodeHaveNoHostname(t *testing.T) {
	j := canonical()
	j.Groups[0].Networks = []*Network{{Mode: "host", Hostname: "db"}}
	if got := strings.Join(Unsupported(j), "\n"); !strings.Contains(got, `hostname "db" is not supported: `) {
		t.Errorf("%s", got)
	}
}
