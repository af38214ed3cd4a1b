// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/node/cni"
)

// shop is a network of Debian's plugins. Its leases are in a directory of the test.
func (m *machine) shop() (leases string) {
	m.t.Helper()
	dir := m.t.TempDir()
	leases = filepath.Join(dir, "leases")
	m.config.CNI = CNI{Dirs: []string{dir}, Paths: cni.DefaultPluginPaths}
	m.configure(fmt.Sprintf(`{"cniVersion":"1.0.0","name":"shop","plugins":[
		{"type":"bridge","bridge":"shop0","isGateway":true,"ipMasq":false,"hairpinMode":true,
			"ipam":{"type":"host-local","dataDir":%q,"ranges":[[{"subnet":"192.0.2.0/24"}]],"routes":[{"dst":"0.0.0.0/0"}]},"dns":{"nameservers":["192.0.2.53"]}},
		{"type":"portmap","snat":true,"capabilities":{"portMappings":true}}]}`, leases))
	return filepath.Join(leases, "shop")
}

func (m *machine) configure(text string) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.config.CNI.Dirs[0], "shop.conflist"), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// plugged lists what plugins left: leases, links and rules.
func (m *machine) plugged(leases string) (left []string) {
	m.t.Helper()
	entries, _ := os.ReadDir(leases)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "192.") {
			left = append(left, "lease "+e.Name())
		}
	}
	err := within(m.path, func() error {
		links, err := exec.Command("ip", "-o", "link").Output()
		for line := range strings.Lines(string(links)) {
			if strings.Contains(line, "master shop0") {
				left = append(left, strings.TrimSpace(line))
			}
		}
		if err == nil {
			var rules []byte
			rules, err = exec.Command("iptables-save", "-t", "nat").Output()
			for line := range strings.Lines(string(rules)) {
				if strings.Contains(line, "192.0.2.") {
					left = append(left, strings.TrimSpace(line))
				}
			}
		}
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return append(left, m.remains(m.fabric())...)
}

func plugRequest(n int) Request {
	return Request{Alloc: allocID(n), Mode: "cni/shop", Ports: []Port{{Host: uint16(20000 + n), To: 80}}, Args: map[string]string{"zone": "a"}}
}

func TestPluginsMakeANetwork(t *testing.T) {
	m := newMachine(t)
	leases := m.shop()
	f := m.fabric()
	n, status, err := f.Up(t.Context(), plugRequest(1))
	if err != nil {
		t.Fatal(err)
	}
	if status.Address != "192.0.2.2" || status.InterfaceName != "eth0" || status.DNS == nil || !slices.Equal(status.DNS.Servers, []string{"192.0.2.53"}) {
		t.Errorf("status %+v", status)
	}
	resolver, _ := os.ReadFile(n.Resolver)
	hosts, _ := os.ReadFile(n.Hosts)
	if !strings.HasPrefix(string(resolver), "nameserver 192.0.2.53\n") || !strings.Contains(string(hosts), "192.0.2.2 00000001\n") {
		t.Errorf("resolver %s hosts %s", resolver, hosts)
	}
	m.serve(n.Namespace, ":80", "1")
	for _, at := range []string{"192.0.2.2:80", "198.51.100.2:20001"} {
		if got, err := ask(m.path, "tcp", at); !strings.HasPrefix(got, "1 from") {
			t.Errorf("%s: %q, %v", at, got, err)
		}
	}
	if got, err := ask(m.outside(), "tcp", "198.51.100.2:20001"); !strings.HasPrefix(got, "1 from") {
		t.Errorf("from outside: %q, %v", got, err)
	}
	// The next agent has the network, and removes it with the configuration that made it.
	m.configure(`{"cniVersion":"1.0.0","name":"shop","plugins":[{"type":"absent"}]}`)
	next := m.fabric()
	if err := next.Reconcile(every); err != nil {
		t.Error(err)
	}
	if _, again, err := next.Up(t.Context(), plugRequest(1)); err != nil || again.Address != "192.0.2.2" {
		t.Errorf("again %+v, %v", again, err)
	}
	if _, _, err := next.Up(t.Context(), plugRequest(2)); err == nil || !strings.Contains(err.Error(), "plugin absent") {
		t.Error(err)
	}
	if err := next.Release(allocID(1))(); err != nil {
		t.Error(err)
	}
	if left := m.plugged(leases); len(left) > 0 || len(m.ledger.keys) > 0 {
		t.Errorf("left %q, ledger %v", left, m.ledger.keys)
	}
}

func TestAgentKilledBetweenPluginsLeavesNothing(t *testing.T) {
	m := newMachine(t)
	leases := m.shop()
	steps := map[string]bool{}
	for n := 1; ; n++ {
		step := m.dieAt(n, func(f *Fabric) {
			if _, _, err := f.Up(t.Context(), plugRequest(n)); err != nil {
				t.Error(err)
			}
			if err := f.Release(allocID(n))(); err != nil {
				t.Error(err)
			}
		})
		next := m.fabric()
		if err := next.Reconcile(none); err != nil {
			t.Errorf("after a kill before %q: %v", step, err)
		}
		next.removals.Wait()
		if left := m.plugged(leases); len(left) > 0 || len(m.ledger.keys) > 0 {
			t.Errorf("after a kill before %q, the next agent leaves %q, ledger %v", step, left, m.ledger.keys)
		}
		if step == "" {
			break
		}
		steps[step] = true
	}
	for _, step := range []string{"record", "namespace", "add", "result", "files", "delete", "deleted", "unbind", "forget"} {
		if !steps[step] {
			t.Errorf("no kill before %q", step)
		}
	}
}

// TestAgentKilledDuringAPluginLeavesNothing ends the agent between the first plugin's success and the
// second one's.
func TestAgentKilledDuringAPluginLeavesNothing(t *testing.T) {
	m := newMachine(t)
	leases := m.shop()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "portmap"), []byte("#!/bin/sh\n[ $CNI_COMMAND = DEL ] && exec /usr/lib/cni/portmap\nkill -9 $PPID\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	m.config.CNI.Paths = append([]string{dir}, m.config.CNI.Paths...)
	r := &Record{Request: plugRequest(1)}
	f := m.fabric()
	found, err := cni.Find(m.config.CNI.Dirs, "shop")
	if err != nil {
		t.Fatal(err)
	}
	found.Plugins = found.Plugins[:1] // what the killed agent did
	r.Chain = &Chain{Network: found}
	if err := makeNamespace(f.namespace(r.Alloc)); err != nil {
		t.Fatal(err)
	}
	if err := f.w.inHost(func() error { _, err := found.Add(t.Context(), f.runtime(r)); return err }); err != nil {
		t.Fatal(err)
	}
	whole, err := cni.Find(m.config.CNI.Dirs, "shop")
	if err != nil {
		t.Fatal(err)
	}
	r.Chain = &Chain{Network: whole}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	m.ledger.Put(KeyPrefix+r.Alloc, data)
	if left := m.plugged(leases); len(left) < 2 {
		t.Fatalf("the first plugin left %q, so this tests nothing", left)
	}
	next := m.fabric()
	if err := next.Reconcile(none); err != nil {
		t.Error(err)
	}
	next.removals.Wait()
	if left := m.plugged(leases); len(left) > 0 || len(m.ledger.keys) > 0 {
		t.Errorf("left %q, ledger %v", left, m.ledger.keys)
	}
}

func TestFailedPluginIsUndone(t *testing.T) {
	m := newMachine(t)
	leases := m.shop()
	dir := t.TempDir()
	m.config.CNI.Paths = append([]string{dir}, m.config.CNI.Paths...)
	install := func(script string) {
		if err := os.WriteFile(filepath.Join(dir, "portmap"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f := m.fabric()
	install(`[ $CNI_COMMAND = DEL ] && exec /usr/lib/cni/portmap; echo '{"code":5,"msg":"no rules today"}'; exit 1`)
	if _, _, err := f.Up(t.Context(), plugRequest(1)); err == nil || !strings.Contains(err.Error(), "ADD by plugin portmap") || !strings.Contains(err.Error(), "no rules today") {
		t.Error(err)
	}
	if left := m.plugged(leases); len(left) > 0 || len(m.ledger.keys) > 0 {
		t.Errorf("left %q, ledger %v", left, m.ledger.keys)
	}
	// DEL fails, too: the record stays until it succeeds.
	install(`echo '{"code":5,"msg":"no rules today"}'; exit 1`)
	if _, _, err := f.Up(t.Context(), plugRequest(1)); err == nil || !strings.Contains(err.Error(), "DEL by plugin portmap") {
		t.Error(err)
	}
	if err := f.Reconcile(none); err != nil {
		t.Error(err)
	}
	f.removals.Wait()
	if left := m.plugged(leases); len(left) == 0 || len(m.ledger.keys) != 1 {
		t.Errorf("left %q, ledger %v", left, m.ledger.keys)
	}
	os.Remove(filepath.Join(dir, "portmap"))
	if err := f.Reconcile(none); err != nil {
		t.Error(err)
	}
	f.removals.Wait()
	if left := m.plugged(leases); len(left) > 0 || len(m.ledger.keys) > 0 {
		t.Errorf("left %q, ledger %v", left, m.ledger.keys)
	}
}

// TestHangingRemovalDelaysNoOtherNetwork checks that the comparison with the kernel does not wait
// for plugins, and that the end of the agent ends them.
func TestHangingRemovalDelaysNoOtherNetwork(t *testing.T) {
	m := newMachine(t)
	m.shop()
	f := m.fabric()
	if _, _, err := f.Up(t.Context(), plugRequest(1)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "portmap"), []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	m.config.CNI.Paths = append([]string{dir}, m.config.CNI.Paths...)
	next := m.fabric()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for range 3 {
		if err := next.Reconcile(none); err != nil {
			t.Error(err)
		}
	}
	next.Close()
	if ctx.Err() != nil {
		t.Error("the agent waits for a plugin that hangs")
	}
	if len(m.ledger.keys) != 1 {
		t.Error("the record is gone although the plugin did not end")
	}
	m.config.CNI.Paths = m.config.CNI.Paths[1:]
	last := m.fabric()
	if err := last.Release(allocID(1))(); err != nil {
		t.Error(err)
	}
}
