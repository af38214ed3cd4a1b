// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// plugged configures a network of Debian's plugins, of which programs in the directory plugins take the
// place. leases is the directory of its addresses.
func (m *machine) plugged(t *testing.T) (config, plugins, leases string) {
	dir := t.TempDir()
	plugins = filepath.Join(dir, "plugins")
	if err := os.Mkdir(plugins, 0o755); err != nil {
		t.Fatal(err)
	}
	shop := fmt.Sprintf(`{"cniVersion":"1.0.0","name":"shop","plugins":[
		{"type":"bridge","bridge":"shop0","isGateway":true,"hairpinMode":true,"ipam":{"type":"host-local","dataDir":%q,"ranges":[[{"subnet":"192.0.2.0/24"}]],"routes":[{"dst":"0.0.0.0/0"}]}},
		{"type":"portmap","snat":true,"capabilities":{"portMappings":true}}]}`, dir)
	for name, text := range map[string]string{"10-shop.conflist": shop, "20-lab.conf": `{"cniVersion":"1.0.0","name":"lab","type":"no-such-plugin"}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m.Args = []string{"-dev", "-config", m.configured(fmt.Sprintf("client {\n  cni_config_dir = %q\n  cni_path = %q\n}\n", dir, plugins+":/opt/cni/bin:/usr/lib/cni"))}
	return filepath.Join(dir, "10-shop.conflist"), plugins, filepath.Join(dir, "shop")
}

func pluggedJob(count int) *api.Job {
	job := fixedPort("raw_exec", count)
	job.Groups[0].Networks[0].Mode = "cni/shop"
	job.Groups[0].Networks[0].CNI = &api.CNI{Args: map[string]string{"zone": "a"}}
	return job
}

// unplugged waits until plugins have nothing for allocations.
func (m *machine) unplugged(leases string) {
	m.t.Helper()
	m.eventually("nothing remains of the network", func(context.Context) error {
		left, _ := filepath.Glob(leases + "/192.*")
		rules, err := exec.Command("iptables-save", "-t", "nat").Output()
		links, err2 := exec.Command("ip", "-o", "link").Output()
		for line := range strings.Lines(string(rules) + string(links)) {
			if strings.Contains(line, "192.0.2.") || strings.Contains(line, "master shop0") {
				left = append(left, line)
			}
		}
		if err := errors.Join(err, err2); err != nil || len(left) > 0 {
			return fmt.Errorf("%q %w", left, errors.Join(err, errors.New("remains")))
		}
		return nil
	})
}

func TestBridgeCNIRunsAFixedPortTwice(t *testing.T) {
	if !alone(t) {
		return
	}
	m := unstarted(t)
	config, _, leases := m.plugged(t)
	m.start()
	m.waitReady()
	m.register(pluggedJob(2))
	ids, ports := m.isUp("fixed", 2)
	defer os.Remove(filepath.Dir(filepath.Dir(namespaceOf(t, ids[0]))))
	seen := map[string]bool{}
	for _, id := range ids {
		m.eventually("the node reaches "+id, func(ctx context.Context) error {
			text, err := greeting(ctx, "", "127.0.0.1:"+strconv.Itoa(ports[id]))
			if err == nil {
				seen[text] = true
			}
			return err
		})
	}
	a, _, err := m.Client.Allocations().Get(t.Context(), ids[0], nil)
	if err != nil || a.NetworkStatus == nil || !strings.HasPrefix(a.NetworkStatus.Address, "192.0.2.") || a.NetworkStatus.InterfaceName != "eth0" {
		t.Fatalf("network %+v, %v", a.NetworkStatus, err)
	}
	if _, err := greeting(t.Context(), namespaceOf(t, ids[1]), a.NetworkStatus.Address+":8080"); err != nil || len(seen) != 2 {
		t.Errorf("%v between instances; answers %v", err, seen)
	}
	// The configuration disappears: the network stays, over a killed agent, and its removal works.
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	m.Kill()
	m.start()
	m.waitReady()
	if _, err := greeting(t.Context(), "", "127.0.0.1:"+strconv.Itoa(ports[ids[0]])); err != nil {
		t.Errorf("after the agent's return: %v", err)
	}
	m.reeve("job", "stop", "fixed")
	m.unplugged(leases)
	waiting := pluggedJob(1)
	waiting.Groups[0].Networks[0].Mode = "cni/lab"
	m.register(waiting)
	m.eventually("the missing plugin is named", func(context.Context) error {
		out, err := m.reeveCommand("", "job", "explain", "fixed")
		if err == nil && !strings.Contains(out, "has the plugin no-such-plugin") {
			err = errors.New(out)
		}
		return err
	})
}

func TestBridgeCNISurvivesKilledAgents(t *testing.T) {
	if !alone(t) {
		return
	}
	m := unstarted(t)
	_, plugins, leases := m.plugged(t)
	reached := filepath.Join(plugins, "reached")
	for _, command := range []string{"ADD", "DEL"} { // killed while the second plugin runs
		hang := "#!/bin/sh\n[ $CNI_COMMAND = " + command + " ] || exec /usr/lib/cni/portmap\ntouch " + reached + "\nexec sleep 1000\n"
		if err := os.WriteFile(filepath.Join(plugins, "portmap"), []byte(hang), 0o755); err != nil {
			t.Fatal(err)
		}
		m.start()
		m.waitReady()
		m.register(pluggedJob(1))
		if command == "DEL" {
			m.isUp("fixed", 1)
			m.reeve("job", "stop", "-detach", "fixed")
		}
		m.eventually("plugin portmap hangs in "+command, func(context.Context) error {
			_, err := os.Stat(reached)
			return err
		})
		m.Kill()
		os.Remove(reached)
		if err := os.Remove(filepath.Join(plugins, "portmap")); err != nil {
			t.Fatal(err)
		}
		m.start()
		m.waitReady()
		if command == "ADD" {
			ids, _ := m.isUp("fixed", 1)
			defer os.Remove(filepath.Dir(filepath.Dir(namespaceOf(t, ids[0]))))
			m.reeve("job", "stop", "fixed")
		}
		m.unplugged(leases)
		m.Kill()
	}
}
