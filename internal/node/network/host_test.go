// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
)

// A memory is a ledger for tests.
type memory struct {
	mu   sync.Mutex
	keys map[string][]byte
}

func (m *memory) Put(key string, value []byte) func() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if value == nil {
		delete(m.keys, key)
	} else {
		m.keys[key] = value
	}
	return func() error { return nil }
}

func (m *memory) Each(prefix string, do func(string, []byte) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, v := range m.keys {
		if strings.HasPrefix(k, prefix) {
			if err := do(k, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// A machine is a network namespace that stands for a whole machine.
type machine struct {
	t      testing.TB
	path   string
	config Config
	ledger *memory
}

const outside = "198.51.100.1" // a neighbour of the machine, which has .2

// newMachine makes a machine with a second one, which path + "-out" holds, beside it.
func newMachine(t testing.TB) *machine {
	t.Helper()
	dir, err := os.MkdirTemp("/run", "reeve-test-")
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, path: filepath.Join(dir, "machine"), ledger: &memory{keys: map[string][]byte{}}}
	m.config = Config{
		Node: "node-1", Bridge: DefaultBridge, Subnet: netip.MustParsePrefix(DefaultSubnet), Subnet6: netip.MustParsePrefix("fd72:6565:7665::/64"),
		Dir: filepath.Join(dir, "nets"), Ledger: m.ledger, Host: m.path,
	}
	for _, path := range []string{m.path, m.outside()} {
		if err := makeNamespace(path); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, path := range []string{m.path, m.outside()} {
			if err := removeNamespace(path); err != nil {
				t.Error(err)
			}
		}
		left, _ := filepath.Glob(filepath.Join(dir, "*", "*", namespaceFile))
		for _, path := range left {
			if err := removeNamespace(path); err != nil {
				t.Error(err)
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	m.plugIn()
	return m
}

func (m *machine) outside() string { return m.path + "-out" }

// plugIn connects the machine with the one outside.
func (m *machine) plugIn() {
	m.t.Helper()
	err := within(m.path, func() error {
		out, err := os.Open(m.outside())
		if err != nil {
			return err
		}
		defer out.Close()
		h, err := netlink.NewHandle()
		if err != nil {
			return err
		}
		defer h.Close()
		a := netlink.NewLinkAttrs()
		a.Name = "uplink"
		if err := h.LinkAdd(&netlink.Veth{LinkAttrs: a, PeerName: "uplink", PeerNamespace: netlink.NsFd(int(out.Fd()))}); err != nil {
			return err
		}
		return configureUplink("198.51.100.2/24", "2001:db8::2/64")
	})
	if err == nil {
		err = within(m.outside(), func() error { return configureUplink(outside+"/24", "2001:db8::1/64") })
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

func configureUplink(addresses ...string) error {
	l, err := netlink.LinkByName("uplink")
	if err != nil {
		return err
	}
	for _, a := range addresses {
		x, err := netlink.ParseAddr(a)
		if err != nil {
			return err
		}
		x.Flags = 2 // no duplicate address detection
		if err := netlink.AddrAdd(l, x); err != nil {
			return err
		}
	}
	return netlink.LinkSetUp(l)
}

// fabric opens the networks of the machine, as an agent does at its start.
func (m *machine) fabric() *Fabric {
	m.t.Helper()
	f, err := New(m.config)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(f.Close)
	return f
}

func allocID(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", n, n) }

// request asks for a network in which port 80 is the machine's port.
func request(n int, port uint16) Request {
	return Request{Alloc: allocID(n), Mode: ModeBridge, Ports: []Port{{Host: port, To: 80}}}
}

// up makes a network with a server on port 80 that answers with the allocation's number and the
// client's address.
func (m *machine) up(f *Fabric, n int, port uint16) *Record {
	m.t.Helper()
	if _, _, err := f.Up(m.t.Context(), request(n, port)); err != nil {
		m.t.Fatal(err)
	}
	m.serve(f.namespace(allocID(n)), ":80", fmt.Sprint(n))
	return f.nets[allocID(n)].rec
}

// serve answers TCP connections and UDP packets within a namespace.
func (m *machine) serve(namespace, at, answer string) {
	m.t.Helper()
	err := within(namespace, func() error {
		l, err := net.Listen("tcp", at)
		if err != nil {
			return err
		}
		m.t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
				fmt.Fprintf(c, "%s from %s", answer, host)
				c.Close()
			}
		}()
		u, err := net.ListenPacket("udp", at)
		if err != nil {
			return err
		}
		m.t.Cleanup(func() { u.Close() })
		go func() {
			b := make([]byte, 64)
			for {
				_, from, err := u.ReadFrom(b)
				if err != nil {
					return
				}
				u.WriteTo([]byte(answer), from)
			}
		}()
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// patience is longer than the second that the kernel may take to notice the first port of a bridge.
const patience = 3 * time.Second

// ask connects within a namespace, and returns the answer.
func ask(namespace, network, at string) (answer string, err error) {
	err = within(namespace, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		c, err := new(net.Dialer).DialContext(ctx, network, at)
		if err != nil {
			return err
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(patience))
		if network == "udp" {
			fmt.Fprint(c, "?")
			b := make([]byte, 64)
			n, err := c.Read(b)
			answer = string(b[:n])
			return err
		}
		b, err := io.ReadAll(c)
		answer = string(b)
		return err
	})
	return answer, err
}

func netipAddr(s string) netip.Addr { return netip.MustParseAddr(s) }

func mustSubnet(text string) netip.Prefix { return netip.MustParsePrefix(text).Masked() }
