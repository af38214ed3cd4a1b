// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/testbed/wait"
)

func TestHostsReachEachOtherOverTheSwitch(t *testing.T) {
	w, err := New(2)
	if os.Geteuid() != 0 {
		if err == nil || !strings.Contains(err.Error(), "root") {
			t.Errorf("without root: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	a, b := w.Hosts()[0], w.Hosts()[1]
	at := net.JoinHostPort(a.Addr, "4000")
	accepted := make(chan error, 1)
	long := strings.Repeat("hello", 20_000) // more than a packet
	l := listenOn(t, a, at)
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				accepted <- err
				return
			}
			_, err = io.WriteString(conn, long)
			conn.Close()
			if err != nil {
				accepted <- err
			}
		}
	}()
	say := func() (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		conn, err := b.Dial(ctx, "tcp", at)
		if err != nil {
			return "", err
		}
		defer conn.Close()
		text, err := io.ReadAll(conn)
		return string(text), err
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		what    string
		do      func() error
		reaches bool
	}{
		{"connected", func() error { return nil }, true},
		{"one direction is blocked", func() error { return a.Block(b) }, false},
		{"unblocked", func() error { return a.Unblock(b) }, true},
		{"packets are delayed and lost", func() error { return a.Degrade(Quality{Delay: time.Millisecond, Jitter: time.Millisecond, Loss: 0.01}) }, true},
		{"the link is good again", a.Improve, true},
		{"packets are held", func() error { return a.Degrade(Quality{Stall: true}) }, false},
		{"held packets were delivered", a.Improve, true},
		{"disconnected", a.Disconnect, false},
		{"connected again", a.Connect, true},
	} {
		must(step.do())
		if step.reaches { // a link that comes up drops the first packets
			wait.Until(t, step.what+": a connection", func() bool { text, err := say(); return err == nil && text == long })
		} else if text, err := say(); err == nil {
			t.Errorf("%s: got %d bytes", step.what, len(text))
		}
	}
}

// listenOn listens on a host.
func listenOn(t *testing.T, h *Host, address string) net.Listener {
	t.Helper()
	done := make(chan net.Listener, 1)
	go func() {
		defer close(done)
		runtime.LockOSThread()
		f, err := os.Open("/run/netns/" + h.name)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
			t.Error(err)
			return
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Error(err)
			return
		}
		done <- l
	}()
	l := <-done
	if l == nil {
		t.FailNow()
	}
	return l
}
