// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodelink_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodelink"
	"github.com/reeve-run/reeve/internal/nodeproto"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/port"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/testbed/wait"
	"github.com/reeve-run/reeve/internal/trust"
)

// nodesEnv has the number of nodes of BenchmarkIdleNodes (default 1,000), whose agents are in
// another process.
const nodesEnv = "REEVE_BENCH_NODES"

// sharedEnv has the number of nodes that share a connection of BenchmarkIdleNodes (default 1). A
// process may not have enough files for one connection per node of a large fleet.
const sharedEnv = "REEVE_BENCH_SHARED"

// benchTTL is the TTL of heartbeats.
const benchTTL = 10 * time.Second

// BenchmarkIdleNodes measures what idle nodes cost a server over mutual TLS, with one connection
// per node or shared ones: its memory per node, and its processor time per heartbeat with acknowledgement.
func BenchmarkIdleNodes(b *testing.B) {
	nodes, err := strconv.Atoi(os.Getenv(nodesEnv))
	if err != nil {
		nodes = 1000
	}
	shared, err := strconv.Atoi(os.Getenv(sharedEnv))
	if err != nil {
		shared = 1
	}
	dir := b.TempDir()
	ids := writeMembers(b, dir, nodes, shared)
	s, err := server.New(server.Config{HeartbeatTTL: benchTTL})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	registerNodes(b, s, ids)
	store, err := trust.Open(filepath.Join(dir, "server"))
	if err != nil {
		b.Fatal(err)
	}
	p, err := port.Listen(port.Config{Addr: "127.0.0.1:0", TLS: store.ServerConfig(nodeproto.Protocol)})
	if err != nil {
		b.Fatal(err)
	}
	links := nodelink.NewServer(nodelink.Config{
		Identify: func(conn net.Conn) (nodelink.Peer, error) {
			who, ok := store.Peer(conn.(*tls.Conn).ConnectionState())
			if !ok {
				return nodelink.Peer{}, errors.New("no member")
			}
			return nodelink.Peer{Node: who.ID, Any: shared > 1}, nil
		},
		Removed: s.IsRevoked, Heard: s.Heard, Report: s.TakeReports, Await: s.Store().Wait, TTL: benchTTL,
		Open: func(node string, told api.Position, notify func()) (nodelink.Feed, error) {
			return s.OpenNodeFeed(node, told, notify)
		},
	})
	ctx, stop := context.WithCancel(b.Context())
	var running sync.WaitGroup
	running.Go(func() { links.Run(ctx, p.Stream(nodeproto.Protocol)) })
	before := memory(b)
	agents := exec.Command(os.Args[0])
	agents.Env = append(os.Environ(), "REEVE_BENCH_SERVER="+p.Addr(), "REEVE_BENCH_DIR="+dir, sharedEnv+"="+strconv.Itoa(shared))
	agents.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var output bytes.Buffer
	agents.Stdout, agents.Stderr = &output, &output
	if err := agents.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		agents.Process.Kill()
		agents.Wait()
		stop()
		running.Wait()
		p.Close()
		s.Shutdown(context.Background())
	}()
	connected := time.Now()
	for links.Links() < nodes {
		wait.Pass(ctx, 100*time.Millisecond)
		if time.Since(connected) > 10*time.Minute {
			b.Fatalf("%d of %d nodes are connected: %s", links.Links(), nodes, output.Bytes())
		}
	}
	connecting := time.Since(connected)
	wait.Pass(ctx, benchTTL) // heartbeats have settled
	heldRSS, heldHeap := memory(b).minus(before)
	used := processorTime(b)
	for b.Loop() {
		wait.Pass(ctx, 3*benchTTL)
	}
	spent := processorTime(b) - used
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(connecting.Seconds(), "s-to-connect")
	b.ReportMetric(heldRSS/float64(nodes)/1024, "KB-RSS/node")
	b.ReportMetric(heldHeap/float64(nodes)/1024, "KB-heap+stacks/node")
	beats := float64(b.N) * float64(nodes) * 9
	b.ReportMetric(float64(spent.Microseconds())/beats, "us-of-server/heartbeat")
	b.ReportMetric(spent.Seconds()/(float64(b.N)*3*benchTTL.Seconds())*1000, "mcore")
}

// registerNodes registers nodes, many at a time.
func registerNodes(b *testing.B, s *server.Server, ids []string) {
	b.Helper()
	var registering sync.WaitGroup
	for part := range slices.Chunk(ids, (len(ids)+255)/256) {
		registering.Go(func() {
			for _, id := range part {
				if _, err := s.RegisterNode(b.Context(), &api.Node{ID: id, Name: id}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	if registering.Wait(); b.Failed() {
		b.FailNow()
	}
}

// writeMembers writes the identity of a server, the ids of nodes, and a key and certificates: one
// for each node that is the first of its connection.
func writeMembers(b *testing.B, dir string, nodes, shared int) (ids []string) {
	b.Helper()
	ca, err := pki.NewAuthority("cluster-1", time.Now())
	if err != nil {
		b.Fatal(err)
	}
	store, err := trust.Open(filepath.Join(dir, "server"))
	if err != nil {
		b.Fatal(err)
	}
	csr, _, err := store.Prepare("s1")
	if err != nil {
		b.Fatal(err)
	}
	sign := func(id string, role pki.Role, csr []byte) []byte {
		certificate, err := ca.Sign(csr, pki.Leaf{ID: id, Role: role, ClusterID: "cluster-1", Region: "global", Address: "127.0.0.1:4646", Lifetime: 24 * time.Hour}, time.Now())
		if err != nil {
			b.Fatal(err)
		}
		return certificate
	}
	if err := store.Enter(trust.Member{ID: "s1", Role: pki.RoleServer, ClusterID: "cluster-1"}, sign("s1", pki.RoleServer, csr), ca.CertPEM()); err != nil {
		b.Fatal(err)
	}
	key, err := pki.NewKey() // one key is enough: the server verifies certificates
	if err != nil {
		b.Fatal(err)
	}
	var all bytes.Buffer
	all.Write(key)
	for i := range nodes {
		ids = append(ids, api.NewID())
		if i%shared != 0 {
			continue
		}
		csr, err := pki.NewRequest(key, ids[i])
		if err != nil {
			b.Fatal(err)
		}
		all.Write(sign(ids[i], pki.RoleNode, csr))
	}
	if err := os.WriteFile(filepath.Join(dir, "nodes"), []byte(strings.Join(ids, "\n")), 0o600); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "nodes.pem"), all.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return ids
}

// TestMain runs the agents of BenchmarkIdleNodes if the benchmark started this process.
func TestMain(m *testing.M) {
	if address := os.Getenv("REEVE_BENCH_SERVER"); address != "" {
		if err := runAgents(address, os.Getenv("REEVE_BENCH_DIR")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// runAgents connects the agents of all nodes.
func runAgents(address, dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "nodes.pem"))
	if err != nil {
		return err
	}
	keyBlock, rest := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(keyBlock.Bytes)
	if err != nil {
		return err
	}
	var certificates []tls.Certificate
	for block, rest := pem.Decode(rest); block != nil; block, rest = pem.Decode(rest) {
		leaf, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return err
		}
		if !leaf.IsCA {
			certificates = append(certificates, tls.Certificate{Certificate: [][]byte{block.Bytes}, PrivateKey: key, Leaf: leaf})
		}
	}
	text, err = os.ReadFile(filepath.Join(dir, "nodes"))
	if err != nil {
		return err
	}
	shared, err := strconv.Atoi(os.Getenv(sharedEnv))
	if err != nil {
		return err
	}
	groups := slices.Collect(slices.Chunk(strings.Split(string(text), "\n"), shared))
	connect := make(chan int)
	var agents sync.WaitGroup
	for range 8 {
		agents.Go(func() {
			for i := range connect {
				conn, err := tls.Dial("tcp", address, &tls.Config{Certificates: certificates[i : i+1], InsecureSkipVerify: true, NextProtos: []string{nodeproto.Protocol}, MinVersion: tls.VersionTLS13})
				if err != nil {
					fmt.Println(err)
					os.Exit(1)
				}
				agents.Go(func() { runAgent(conn, groups[i]) })
			}
		})
	}
	for i := range certificates {
		connect <- i
	}
	close(connect)
	agents.Wait()
	return nil
}

// sharesPerBeat is the number of parts in which the nodes of a connection send their heartbeats.
const sharesPerBeat = 30

// runAgent sends the heartbeats of the nodes of a connection until it ends.
func runAgent(conn net.Conn, ids []string) {
	go io.Copy(io.Discard, conn)
	parts := slices.Collect(slices.Chunk(ids, (len(ids)+sharesPerBeat-1)/sharesPerBeat))
	for known := false; ; known = true {
		slot := uint32(0)
		for _, part := range parts {
			var b []byte
			for _, id := range part {
				m := &nodeproto.FromNode{Slot: slot, Beat: known}
				if !known {
					m.Hello = &nodeproto.Hello{Node: nodeproto.PackID(id), Agent: "mark-" + id}
				}
				b, _ = nodeproto.AppendMessage(b, m)
				slot++
			}
			if _, err := conn.Write(b); err != nil {
				return
			}
			wait.Pass(context.Background(), benchTTL/3/time.Duration(len(parts)))
		}
	}
}

// usage is the memory of this process, in bytes.
type usage struct{ resident, inUse float64 }

func memory(b *testing.B) usage {
	b.Helper()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return usage{kb * 1024, float64(m.HeapInuse + m.StackInuse)}
		}
	}
	b.Fatal("the kernel does not report the resident memory")
	return usage{}
}

func (u usage) minus(v usage) (resident, inUse float64) {
	return u.resident - v.resident, u.inUse - v.inUse
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
