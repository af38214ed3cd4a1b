// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cni

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plugins is a directory of scripts that stand for plugins.
type plugins struct {
	t   *testing.T
	dir string
}

func newPlugins(t *testing.T) *plugins { return &plugins{t, t.TempDir()} }

// install writes a plugin that records its calls, and then runs a script. $input is what it read.
func (p *plugins) install(name, script string) {
	p.t.Helper()
	text := "#!/bin/sh\ninput=$(cat)\nprintf '%s\\n' \"" + name + " $CNI_COMMAND $CNI_CONTAINERID $CNI_IFNAME $CNI_NETNS $CNI_ARGS $input\" >>" + p.dir + "/calls\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

// calls returns the recorded calls.
func (p *plugins) calls() []string {
	text, _ := os.ReadFile(p.dir + "/calls")
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func (p *plugins) runtime() Runtime {
	return Runtime{Paths: []string{"/nonexistent", p.dir}, Container: "alloc-1", Namespace: "/run/ns", Interface: "eth0", Patience: 20 * time.Second}
}

func mustParse(t *testing.T, text string) *Network {
	t.Helper()
	n, err := parse("/etc/cni/net.d/shop.conflist", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const goodResult = `{"cniVersion":"1.0.0","interfaces":[{"name":"br0"},{"name":"eth0","sandbox":"/run/ns"},{"name":"eth0","sandbox":"/proc/1/ns/net"}],"ips":[{"address":"192.0.2.1/24","interface":0},{"address":"192.0.2.9/24","interface":2},{"address":"192.0.2.7/24","interface":1},{"address":"2001:db8::7/64","interface":1}],"dns":{"nameservers":["192.0.2.53","evil\nx"],"domain":"example.com","options":["ndots:2","a b"]}}`

func TestRealChainRunsInOrderAndBackwards(t *testing.T) {
	p := newPlugins(t)
	for _, name := range []string{"first", "second"} {
		p.install(name, "[ $CNI_COMMAND = DEL ] || printf '%s\\n' '"+goodResult+"'")
	}
	n := mustParse(t, `{"cniVersion":"1.0.0","name":"shop","plugins":[{"type":"first","mtu":1400},{"type":"second","capabilities":{"portMappings":true},"prevResult":{},"runtimeConfig":{"portMappings":[{"hostPort":22}]}}]}`)
	r := p.runtime()
	r.Args = map[string]string{"b": "2", "a": "1 x"}
	r.Ports = []PortMapping{{HostPort: 20001, ContainerPort: 80, Protocol: "tcp"}}
	result, err := n.Add(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if result.Address.String() != "192.0.2.7" || result.Address6.String() != "2001:db8::7" || result.Interface != "eth0" ||
		fmt.Sprint(result.Servers, result.Searches, result.Options) != "[192.0.2.53] [example.com] [ndots:2]" {
		t.Errorf("result %+v", result)
	}
	if err := n.Delete(t.Context(), r, result.Raw); err != nil {
		t.Fatal(err)
	}
	calls := p.calls()
	if len(calls) != 4 {
		t.Fatalf("calls %q", calls)
	}
	const environment = " alloc-1 eth0 /run/ns IgnoreUnknown=1;a=1 x;b=2 "
	ports := `"runtimeConfig":{"portMappings":[{"hostPort":20001,"containerPort":80,"protocol":"tcp"}]}`
	for i, want := range []struct{ begin, has, hasNot string }{
		{"first ADD" + environment, `"mtu":1400,"name":"shop"`, "prevResult"},
		{"second ADD" + environment, ports, "hostPort\":22"},
		{"second DEL" + environment, ports, "capabilities"},
		{"first DEL" + environment, `"prevResult":{`, "runtimeConfig"},
	} {
		if !strings.HasPrefix(calls[i], want.begin) || !strings.Contains(calls[i], want.has) || strings.Contains(calls[i], want.hasNot) {
			t.Errorf("call %d: %s\nwant %s... with %s and without %s", i, calls[i], want.begin, want.has, want.hasNot)
		}
		if i > 0 && !strings.Contains(calls[i], `"address":"192.0.2.7/24"`) {
			t.Errorf("call %d has no result of the plugin before: %s", i, calls[i])
		}
	}
}

func TestRealPluginsThatFail(t *testing.T) {
	big := fmt.Sprint(maxOutput + 1)
	for name, c := range map[string]struct{ script, want string }{
		"error":         {`echo '{"cniVersion":"1.0.0","code":11,"msg":"no address\u001b[31m is free","details":"in 192.0.2.0/24"}'; exit 1`, "no address is free in 192.0.2.0/24 (code 11)"},
		"error, exit 0": {`echo '{"code":7,"msg":"bad config"}'`, "bad config (code 7)"},
		"stderr":        {`echo "iptables: not found" >&2; exit 3`, "exit status 3: iptables: not found"},
		"junk":          {`echo hello`, `its result "hello" is no valid JSON object`},
		"array":         {`echo '[]'`, `is no valid JSON object`},
		"null":          {`echo null`, `is no valid JSON object`},
		"nothing":       {``, "ended without a result"},
		"version":       {`echo '{"cniVersion":"9.0.0"}'`, `the version "9.0.0"`},
		"address":       {`echo '{"ips":[{"address":"192.0.2.7; rm"}]}'`, "must be one such as"},
		"loopback":      {`echo '{"ips":[{"address":"127.0.0.1/8"}]}'`, "which no container can have"},
		"mapped":        {`echo '{"ips":[{"address":"::ffff:127.0.0.1/128"}]}'`, "which no container can have"},
		"unspecified":   {`echo '{"ip4":{"ip":"0.0.0.0/0"}}'`, "which no container can have"},
		"multicast":     {`echo '{"ips":[{"address":"ff02::1/64"}]}'`, "which no container can have"},
		"broadcast":     {`echo '{"ips":[{"address":"255.255.255.255/32"}]}'`, "which no container can have"},
		"deep":          {"head -c 100000 /dev/zero | tr '\\0' '['", "is no valid JSON object"},
		"large result":  {`printf '{"x":"%0200000d"}' 1`, "its result has 200008 bytes"},
		"interface":     {`echo '{"ips":[{"address":"192.0.2.7/24","interface":7}]}'`, "to interface 7 of 0"},
		"huge output":   {"head -c " + big + " /dev/zero", "wrote more than 1048576 bytes"},
		"huge stderr":   {"head -c " + big + " /dev/zero >&2", "wrote more than 1048576 bytes"},
		"without end":   {"yes", "wrote more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlugins(t)
			p.install("bad", c.script)
			n := mustParse(t, `{"cniVersion":"1.0.0","name":"shop","plugins":[{"type":"bad"}]}`)
			_, err := n.Add(t.Context(), p.runtime())
			if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 2000 {
				t.Fatalf("%v, want %q", err, c.want)
			}
			for _, part := range []string{"CNI network shop", "ADD", "plugin bad", "/etc/cni/net.d/shop.conflist"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not name %s", err, part)
				}
			}
			if strings.ContainsRune(err.Error(), '\x1b') {
				t.Errorf("%q is not printable", err)
			}
		})
	}
}

func TestRealHangingPluginEndsWithItsChildren(t *testing.T) {
	p := newPlugins(t)
	p.install("slow", "mkfifo "+p.dir+"/never; (echo $$ >"+p.dir+"/pid; cat "+p.dir+"/never) & wait")
	n := mustParse(t, `{"cniVersion":"1.0.0","name":"shop","plugins":[{"type":"slow"}]}`)
	r := p.runtime()
	r.Patience = 300 * time.Millisecond
	_, err := n.Add(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), "did not end within 300ms, and was killed") {
		t.Error(err)
	}
	// A reader of the pipe would let this writer open it.
	if f, err := os.OpenFile(p.dir+"/never", os.O_WRONLY|0o4000, 0); err == nil {
		f.Close()
		t.Error("a child of the plugin still runs")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.Add(ctx, p.runtime()); err == nil {
		t.Error("a plugin ran after the end of its call")
	}
}

func TestRealDeleteStopsAtAnError(t *testing.T) {
	p := newPlugins(t)
	p.install("addresses", "")
	p.install("rules", "echo '{\"code\":1,\"msg\":\"busy\"}'; exit 1")
	n := mustParse(t, `{"cniVersion":"1.0.0","name":"shop","plugins":[{"type":"addresses"},{"type":"rules"}]}`)
	if err := n.Delete(t.Context(), p.runtime(), nil); err == nil || !strings.Contains(err.Error(), "DEL by plugin rules") {
		t.Error(err)
	}
	if calls := p.calls(); len(calls) != 1 {
		t.Errorf("the address was freed while rules remain: %q", calls)
	}
}

func TestRealPluginsSeeNothingOfTheAgent(t *testing.T) {
	t.Setenv("REEVE_TOKEN", "secret")
	p := newPlugins(t)
	p.install("spy", "env >"+p.dir+"/env; pwd >>"+p.dir+"/env")
	n := mustParse(t, `{"cniVersion":"1.0.0","name":"shop","plugins":[{"type":"spy"}]}`)
	if err := n.Delete(t.Context(), p.runtime(), nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(p.dir + "/env")
	if err != nil || strings.Contains(string(text), "REEVE") || !strings.HasSuffix(string(text), "\n/\n") {
		t.Errorf("%s %v", text, err)
	}
}

func TestArgumentsStayApart(t *testing.T) {
	for _, args := range []map[string]string{
		{"a": "1;IP=192.0.2.9"}, {"a": "1=2"}, {"a;IP=192.0.2.9": "1"}, {"a=b": "1"}, {"": "1"}, {"a": "1\n2"}, {"a": "1\x002"},
		{"IgnoreUnknown": "0"}, {"a": strings.Repeat("x", 513)}, {strings.Repeat("x", 65): "1"},
	} {
		if text, err := encodeArgs(args); err == nil {
			t.Errorf("%q became %q", args, text)
		}
	}
}

func TestPreviousResultByVersion(t *testing.T) {
	for _, v := range versions {
		n := &Network{Name: "shop", Version: v, Plugins: []json.RawMessage{json.RawMessage(`{"type":"x"}`)}}
		text, _, err := n.configOf(0, Runtime{}, json.RawMessage(`{"a":1}`))
		if has := strings.Contains(string(text), "prevResult"); err != nil || has != (v > "0.2.0") {
			t.Errorf("version %s: %s, %v", v, text, err)
		}
	}
}
