// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package network connects network namespaces of this machine like hosts on a switch, and
// takes their links away. Tests run agents in them: each host has its own loopback interface
// and its own address. It needs root and the command ip.
//
// It knows nothing of agents.
package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A Network is a switch with hosts. Close removes them.
type Network struct {
	name  string // of the namespace of the switch
	hosts []*Host
}

// A Host is a network namespace with one address.
type Host struct {
	Addr string // IPv4 address
	name string // of the namespace
	port string // the switch's side of the host's link
	net  *Network

	relay *relay // of a degraded link
}

// made counts the networks of this process, whose names must differ.
var made atomic.Int64

// New returns a network of n hosts with the addresses 10.213.0.1 and following.
func New(n int) (*Network, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("network namespaces need root")
	}
	w := &Network{name: fmt.Sprintf("reeve-%d-%d", os.Getpid(), made.Add(1))}
	if err := w.build(n); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func (w *Network) build(n int) error {
	if err := ip("netns", "add", w.name); err != nil {
		return err
	}
	if err := w.ip("link", "add", "switch", "type", "bridge"); err != nil {
		return err
	}
	if err := w.ip("link", "set", "switch", "up"); err != nil {
		return err
	}
	for i := range n {
		h := &Host{Addr: fmt.Sprintf("10.213.0.%d", i+1), name: fmt.Sprintf("%s-%d", w.name, i), port: fmt.Sprintf("port%d", i), net: w}
		w.hosts = append(w.hosts, h)
		if err := h.connect(); err != nil {
			return err
		}
	}
	return nil
}

func (h *Host) connect() error {
	if err := ip("netns", "add", h.name); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"link", "add", h.port, "type", "veth", "peer", "name", "eth0", "netns", h.name},
		{"link", "set", h.port, "master", "switch"},
		{"link", "set", h.port, "up"},
	} {
		if err := h.net.ip(args...); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"link", "set", "lo", "up"},
		{"address", "add", h.Addr + "/24", "dev", "eth0"},
		{"link", "set", "eth0", "up"},
	} {
		if err := h.ip(args...); err != nil {
			return err
		}
	}
	return nil
}

// Hosts returns the hosts.
func (w *Network) Hosts() []*Host { return w.hosts }

// Close removes the hosts and the switch. End the processes in them before.
func (w *Network) Close() error {
	var errs []error
	for _, h := range w.hosts {
		errs = append(errs, h.Improve(), ip("netns", "delete", h.name))
	}
	return errors.Join(append(errs, ip("netns", "delete", w.name))...)
}

// Command returns a command that runs on the host.
func (h *Host) Command(name string, args ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"--net=/run/netns/" + h.name, "--", name}, args...)...)
}

// Disconnect takes the host off the network. It keeps its address and its loopback interface.
func (h *Host) Disconnect() error { return h.net.ip("link", "set", h.port, "down") }

// Connect undoes Disconnect.
func (h *Host) Connect() error { return h.net.ip("link", "set", h.port, "up") }

// Move gives the host another address of the network, 10.213.0.LAST.
func (h *Host) Move(last int) error {
	if err := h.ip("address", "delete", h.Addr+"/24", "dev", "eth0"); err != nil {
		return err
	}
	h.Addr = fmt.Sprintf("10.213.0.%d", last)
	return h.ip("address", "add", h.Addr+"/24", "dev", "eth0")
}

// Block drops what the host sends to another; packets in the other direction arrive.
func (h *Host) Block(to *Host) error { return h.ip("route", "add", "blackhole", to.Addr+"/32") }

// Unblock undoes Block.
func (h *Host) Unblock(to *Host) error { return h.ip("route", "delete", "blackhole", to.Addr+"/32") }

// Dial connects from the host, as a process on it would. The address must have no names.
func (h *Host) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	var conn net.Conn
	err := within(h.name, func() (err error) {
		var d net.Dialer
		conn, err = d.DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// within calls act in a network namespace.
func within(namespace string, act func() error) error {
	done := make(chan error, 1)
	go func() {
		// The thread enters the namespace. It is not unlocked, so that it ends with the goroutine.
		runtime.LockOSThread()
		done <- enter(namespace, act)
	}()
	return <-done
}

func enter(namespace string, act func() error) error {
	f, err := os.Open(filepath.Join("/run/netns", namespace))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter namespace %s: %w", namespace, err)
	}
	return act()
}

func (w *Network) ip(args ...string) error { return ip(append([]string{"-n", w.name}, args...)...) }
func (h *Host) ip(args ...string) error    { return ip(append([]string{"-n", h.name}, args...)...) }

func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
