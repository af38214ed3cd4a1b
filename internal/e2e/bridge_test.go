// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	miekg "github.com/miekg/dns"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// binaryVariable names the binary under test in a test that runs in its own network namespace.
const binaryVariable = "REEVE_E2E_BINARY"

// alone runs the test in a process with its own network namespace, so that it touches neither the
// links nor the rules of the machine. It returns whether this is that process.
func alone(t *testing.T) bool {
	t.Helper()
	return apart(t, unix.CLONE_NEWNET)
}

// apart runs the test in a process with namespaces of its own, one of which is the network's, and
// with flags.
func apart(t *testing.T, namespaces uintptr, flags ...string) bool {
	t.Helper()
	if os.Getenv(binaryVariable) != "" {
		lo, err := netlink.LinkByName("lo")
		if err == nil {
			err = netlink.LinkSetUp(lo)
		}
		if err != nil {
			t.Fatal(err)
		}
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=9m")
	cmd.Args = append(cmd.Args, flags...)
	cmd.Env = append(os.Environ(), binaryVariable+"="+reeve)
	cmd.SysProcAttr = &unix.SysProcAttr{Cloneflags: namespaces}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("in its own namespaces: %v\n%s", err, out)
	} else if testing.Verbose() {
		t.Logf("in its own namespaces:\n%s", out)
	}
	return false
}

// namespaceOf returns the file of an allocation's network namespace.
func namespaceOf(t *testing.T, alloc string) string {
	t.Helper()
	found, err := filepath.Glob("/run/reeve-networks/*/" + alloc + "/netns")
	if err != nil || len(found) != 1 {
		t.Fatalf("the namespace of %s: %q, %v", alloc, found, err)
	}
	return found[0]
}

// within calls do on a thread in a network namespace; "" is that of the test.
func within(namespace string, do func() error) error {
	done := make(chan error, 1)
	go func() {
		if namespace == "" {
			done <- do()
			return
		}
		runtime.LockOSThread() // never unlocked
		f, err := os.Open(namespace)
		if err == nil {
			defer f.Close()
			err = unix.Setns(int(f.Fd()), unix.CLONE_NEWNET)
		}
		if err == nil {
			err = do()
		}
		done <- err
	}()
	return <-done
}

// greeting returns the response of an example's web server, asked within a namespace.
func greeting(ctx context.Context, namespace, at string) (text string, err error) {
	var conn net.Conn
	if err := within(namespace, func() (err error) {
		conn, err = (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", at)
		return err
	}); err != nil {
		return "", err
	}
	defer conn.Close()
	c := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }, DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+"/", nil)
	if err != nil {
		return "", err
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b := make([]byte, 256)
	n, _ := resp.Body.Read(b)
	return string(b[:n]), nil
}

// fixedPort is a job whose program listens on port 8080.
func fixedPort(driver string, count int) *api.Job {
	job := testbed.Job("fixed", driver, count, map[string]any{"command": reeve, "args": []string{"example-web", "-listen", ":8080"}})
	g := job.Groups[0]
	g.Networks = []*api.Network{{Mode: api.NetworkBridge, DynamicPorts: []api.Port{{Label: "http", To: 8080}}}}
	g.Services = []*api.Service{{Name: "web", PortLabel: "http", Provider: "nomad"}}
	return job
}

// isUp waits until the job's instances run, and returns them with their ports of the node.
func (m *machine) isUp(job string, count int) (ids []string, ports map[string]int) {
	m.t.Helper()
	ports = map[string]int{}
	list := m.allocations(job, "runs", func(list []*api.AllocationListStub) bool {
		return len(list) >= count && len(slices.DeleteFunc(slices.Clone(list), func(a *api.AllocationListStub) bool { return a.ClientStatus != api.AllocClientRunning })) == count
	})
	for _, a := range list {
		if a.ClientStatus != api.AllocClientRunning {
			continue
		}
		full, _, err := m.Client.Allocations().Get(m.t.Context(), a.ID, nil)
		if err != nil {
			m.t.Fatal(err)
		}
		ids, ports[a.ID] = append(ids, a.ID), full.PortMappings()[0].Value
	}
	return ids, ports
}

// hasNetworks waits until the node has the networks of so many allocations and no others.
func (m *machine) hasNetworks(count int) {
	m.t.Helper()
	m.eventually(fmt.Sprintf("%d networks", count), func(context.Context) error {
		links, err := netlink.LinkList()
		if err != nil {
			return err
		}
		have := 0
		for _, l := range links {
			if strings.HasPrefix(l.Attrs().Name, "rv") {
				have++
			}
		}
		bound := 0
		mounts, _ := os.ReadFile("/proc/self/mounts")
		entries, _ := filepath.Glob(m.networksDir() + "/*")
		for line := range strings.Lines(string(mounts)) {
			if strings.Contains(line, m.networksDir()+"/") {
				bound++
			}
		}
		if have != count || bound != count || len(entries) != count {
			return fmt.Errorf("%d links, %d namespaces, %d directories", have, bound, len(entries))
		}
		return nil
	})
}

// networksDir returns the directory of the machine's networks, which all its tests have for
// themselves.
func (m *machine) networksDir() string {
	link, err := netlink.LinkByName("reeve0")
	if err != nil {
		return "/run/reeve-networks/none"
	}
	return "/run/reeve-networks/" + strings.TrimPrefix(link.Attrs().Alias, "reeve ")
}

// leavesNothing stops the job, and checks that its networks are gone.
func (m *machine) leavesNothing(job string) {
	m.t.Helper()
	m.reeve("job", "stop", job)
	m.hasNetworks(0)
	os.Remove(m.networksDir())
}

func TestBridgeRunsAFixedPortThreeTimes(t *testing.T) {
	if !alone(t) {
		return
	}
	m := newMachine(t)
	m.register(fixedPort("raw_exec", 3))
	ids, ports := m.isUp("fixed", 3)
	seen := map[string]bool{}
	for _, id := range ids {
		at := "127.0.0.1:" + strconv.Itoa(ports[id])
		m.eventually("the node reaches "+at, func(ctx context.Context) error {
			text, err := greeting(ctx, "", at)
			if err == nil {
				seen[text] = true
			}
			return err
		})
	}
	if len(seen) != 3 {
		t.Errorf("the ports lead to %v, want three instances", seen)
	}
	first, _, err := m.Client.Allocations().Get(t.Context(), ids[0], nil)
	if err != nil || first.NetworkStatus == nil || first.NetworkStatus.Address == "" || first.NetworkStatus.InterfaceName != "eth0" {
		t.Fatalf("network %+v, %v", first.NetworkStatus, err)
	}
	for _, from := range ids[:2] {
		if _, err := greeting(t.Context(), namespaceOf(t, from), first.NetworkStatus.Address+":8080"); err != nil {
			t.Errorf("from %s: %v", from, err)
		}
	}
	out := m.reeve("alloc", "exec", ids[0], "/bin/sh", "-c", "echo $NOMAD_PORT_http $NOMAD_HOST_PORT_http $NOMAD_ALLOC_ADDR_http $NOMAD_ALLOC_INTERFACE_http; readlink /proc/self/ns/net; cat /proc/net/dev")
	want := fmt.Sprintf("8080 %d %s:8080 eth0\n", ports[ids[0]], first.NetworkStatus.Address)
	if host, _ := os.Readlink("/proc/thread-self/ns/net"); !strings.HasPrefix(out, want) || strings.Contains(out, host) || !strings.Contains(out, "eth0:") {
		t.Errorf("exec runs elsewhere or with other variables: %s, want %s", out, want)
	}
	m.hasNetworks(3)
	m.leavesNothing("fixed")
}

func TestBridgeSurvivesKilledAgents(t *testing.T) {
	if !alone(t) {
		return
	}
	m := newMachine(t)
	m.register(fixedPort("raw_exec", 2))
	ids, ports := m.isUp("fixed", 2)
	at := "127.0.0.1:" + strconv.Itoa(ports[ids[0]])
	m.eventually("the node reaches "+at, func(ctx context.Context) error {
		_, err := greeting(ctx, "", at)
		return err
	})
	m.Kill()
	if _, err := greeting(t.Context(), "", at); err != nil {
		t.Errorf("without an agent: %v", err)
	}
	m.start()
	m.waitReady()
	if _, err := greeting(t.Context(), "", at); err != nil {
		t.Errorf("after the agent's return: %v", err)
	}
	// Killed while it stops allocations and starts others.
	for i := range 5 {
		job := fixedPort("raw_exec", 2)
		job.Groups[0].Tasks[0].Env = map[string]string{"VERSION": strconv.Itoa(i)}
		m.register(job)
		m.Kill()
		m.start()
		m.waitReady()
	}
	m.isUp("fixed", 2)
	m.hasNetworks(2)
	m.leavesNothing("fixed")
}

func TestBridgeAnswersNames(t *testing.T) {
	if !alone(t) {
		return
	}
	upstream := &miekg.Server{Addr: "127.0.0.1:5353", Net: "udp", Handler: miekg.HandlerFunc(func(w miekg.ResponseWriter, r *miekg.Msg) {
		a := new(miekg.Msg)
		a.SetReply(r)
		if r.Question[0].Qtype == miekg.TypeA {
			a.Answer = append(a.Answer, &miekg.A{Hdr: miekg.RR_Header{Name: r.Question[0].Name, Rrtype: miekg.TypeA, Class: miekg.ClassINET}, A: net.ParseIP("192.0.2.7")})
		}
		_ = w.WriteMsg(a)
	})}
	go upstream.ListenAndServe()
	defer upstream.Shutdown()
	m := unstarted(t)
	m.Args = []string{"-dev", "-config", m.configured("dns {\n  upstreams = [\"127.0.0.1:5353\"]\n}\n")}
	m.start()
	m.waitReady()
	job := fixedPort("exec", 1)
	job.Groups[0].Tasks[0].Config = map[string]any{"command": "/bin/sh", "args": []string{"-c", "sleep 3600"}}
	job.Groups[0].Networks[0].Hostname = "db-${NOMAD_ALLOC_INDEX}"
	m.register(job)
	ids, _ := m.isUp("fixed", 1)
	for name, want := range map[string]string{"web.default.svc.reeve": "127.0.0.1", "other.example.com": "192.0.2.7"} {
		m.eventually(name+" resolves inside", func(ctx context.Context) error {
			var found []string
			err := within(namespaceOf(t, ids[0]), func() error {
				var q miekg.Msg
				q.SetQuestion(name+".", miekg.TypeA)
				a, err := miekg.ExchangeContext(ctx, &q, "172.26.64.1:53")
				if err == nil {
					for _, rr := range a.Answer {
						found = append(found, rr.(*miekg.A).A.String())
					}
				}
				return err
			})
			if err == nil && !slices.Equal(found, []string{want}) {
				err = fmt.Errorf("%q, want %s", found, want)
			}
			return err
		})
	}
	out := m.reeve("alloc", "exec", ids[0], "/bin/sh", "-c", "hostname || cat /proc/sys/kernel/hostname; cat /etc/resolv.conf /etc/hosts")
	for _, want := range []string{"db-0\n", "nameserver 172.26.64.1\n", "172.26.64.2 db-0\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("inside: %s\nwithout %q", out, want)
		}
	}
	m.leavesNothing("fixed")
}
