// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"math/big"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
	"github.com/reeve-run/reeve/internal/state"
)

// network connects servers over TLS on the loopback interface. Each direction between two
// servers leads through a link of its own, which a test can interrupt.
type network struct {
	testing.TB
	mu        sync.Mutex
	listeners map[string]net.Listener
	links     map[[2]string]*link
	tls       *tls.Config
}

func newNetwork(t testing.TB) *network {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"server"}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	n := &network{TB: t, listeners: map[string]net.Listener{}, links: map[[2]string]*link{}, tls: &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ClientAuth: tls.RequireAnyClientCert, RootCAs: pool, ServerName: "server",
	}}
	return n
}

// listen begins to accept connections to a server, at an address that it keeps.
func (n *network) listen(id string) net.Listener {
	n.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	at := "127.0.0.1:0"
	if l := n.listeners[id]; l != nil {
		at = l.Addr().String()
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		n.Fatal(err)
	}
	n.listeners[id] = l
	return l
}

// forget lets a server listen at another address.
func (n *network) forget(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.listeners, id)
}

// link returns the link from one server to another.
func (n *network) link(from, to string) *link {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.links[[2]string{from, to}]
	if l == nil {
		l = &link{open: make(chan struct{}), conns: map[net.Conn]bool{}}
		close(l.open)
		n.links[[2]string{from, to}] = l
	}
	return l
}

// address returns where a server listens.
func (n *network) address(id string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if l := n.listeners[id]; l != nil {
		return l.Addr().String()
	}
	return ""
}

// dial returns how a server connects to the others.
func (n *network) dial(from string) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, address string) (net.Conn, error) {
		n.mu.Lock()
		to := ""
		for id, l := range n.listeners {
			if l.Addr().String() == address {
				to = id
			}
		}
		n.mu.Unlock()
		conn, err := n.link(from, to).dial(ctx, address)
		if err != nil {
			return nil, err
		}
		c := tls.Client(conn, n.tls)
		if err := c.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, err
		}
		return c, nil
	}
}

// each calls f with all links from and to a server.
func (n *network) each(id string, f func(*link)) {
	n.mu.Lock()
	var others []string
	for other := range n.listeners {
		if other != id {
			others = append(others, other)
		}
	}
	n.mu.Unlock()
	for _, other := range others {
		f(n.link(id, other))
		f(n.link(other, id))
	}
}

// allLinks returns the links that servers have used.
func (n *network) allLinks() []*link {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Collect(maps.Values(n.links))
}

// link forwards the connections of one direction between two servers.
type link struct {
	mu     sync.Mutex
	open   chan struct{} // closed while bytes pass
	broken bool
	conns  map[net.Conn]bool // both ends
	pumps  sync.WaitGroup
}

// pause holds all bytes back, as a partition does.
func (l *link) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.open:
		l.open = make(chan struct{})
	default:
	}
}

// sever closes all connections and refuses new ones, as the end of a process does.
func (l *link) sever() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = true
	for c := range l.conns {
		c.Close()
	}
	clear(l.conns)
}

// heal ends pause and sever.
func (l *link) heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = false
	select {
	case <-l.open:
	default:
		close(l.open)
	}
}

func (l *link) passes() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

func (l *link) dial(ctx context.Context, address string) (net.Conn, error) {
	select {
	case <-l.passes():
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	var d net.Dialer
	far, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	near, inner := net.Pipe()
	l.conns[far], l.conns[inner] = true, true
	l.pumps.Go(func() { l.pump(far, inner) })
	l.pumps.Go(func() { l.pump(inner, far) })
	return near, nil
}

// pump forwards bytes until an end closes.
func (l *link) pump(to, from net.Conn) {
	defer func() {
		to.Close()
		from.Close()
		l.mu.Lock()
		delete(l.conns, to)
		delete(l.conns, from)
		l.mu.Unlock()
	}()
	b := make([]byte, 32<<10)
	for {
		k, err := from.Read(b)
		if err != nil {
			return
		}
		<-l.passes()
		if _, err := to.Write(b[:k]); err != nil {
			return
		}
	}
}

// fleet is a cluster of replicas on a network.
type fleet struct {
	*network
	dirs     map[string]string
	disks    map[string]disk.FS
	replicas map[string]*Replica
	config   Config
}

// newFleet begins a cluster with one server, and adds the others.
func newFleet(t testing.TB, size int, config Config) *fleet {
	t.Helper()
	config.ElectionTimeout = cmp.Or(config.ElectionTimeout, 250*time.Millisecond)
	f := &fleet{network: newNetwork(t), dirs: map[string]string{}, disks: map[string]disk.FS{}, replicas: map[string]*Replica{}, config: config}
	t.Cleanup(func() {
		for _, l := range f.allLinks() {
			l.heal()
		}
		for _, r := range f.replicas {
			r.Close()
		}
		for _, l := range f.allLinks() {
			l.pumps.Wait()
		}
	})
	for i := range size {
		f.join(fmt.Sprint("server-", i))
	}
	return f
}

// join starts a new server, and makes it a voter.
func (f *fleet) join(id string) {
	f.Helper()
	f.open(id)
	if len(f.replicas) > 1 {
		f.change("add a voter", func(r *Replica) error { return r.AddVoter(f.Context(), id, f.address(id)) })
	}
}

// open starts a server. The first one begins the cluster.
func (f *fleet) open(id string) *Replica {
	f.Helper()
	c := f.config
	if f.dirs[id] == "" {
		f.dirs[id] = f.TempDir()
		c.Bootstrap = len(f.dirs) == 1
	}
	c.Dir, c.ServerID, c.Store, c.FS = f.dirs[id], id, state.New(), f.disks[id]
	listener := f.listen(id)
	c.Transport = NewTransport(tls.NewListener(listener, f.tls), f.dial(id), listener.Addr().String(), f.address, nil)
	r, err := Open(c)
	if err != nil {
		f.Fatal(err)
	}
	f.replicas[id] = r
	return r
}

// leader waits for a leader other than the excluded server, and returns its id.
func (f *fleet) leader(except string) (id string) {
	f.Helper()
	eventually(f, "a server leads", func() bool {
		for i, r := range f.replicas {
			if i != except && r.IsLeader() {
				id = i
				return true
			}
		}
		return false
	})
	return id
}

// change tries on the leader until f succeeds.
func (f *fleet) change(what string, do func(*Replica) error) {
	f.Helper()
	f.changeWithout("", what, do)
}

func (f *fleet) changeWithout(except, what string, do func(*Replica) error) {
	f.Helper()
	var err error
	eventually(f, what, func() bool {
		err = do(f.replicas[f.leader(except)])
		return err == nil
	})
}

// write registers a job on a leader other than the excluded server.
func (f *fleet) write(except, job string) {
	f.Helper()
	f.changeWithout(except, "job "+job+" is registered", func(r *Replica) error {
		_, err := r.Propose(f.Context(), register(job))
		return err
	})
}

// knows waits until a server's state contains a job.
func (f *fleet) knows(id, job string) {
	f.Helper()
	eventually(f, id+" knows "+job, func() bool { return has(f.replicas[id].config.Store, job) })
}
