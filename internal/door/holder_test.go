// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// ends returns the addresses of a connection over loopback of this process to itself.
func ends(t testing.TB) (local, remote netip.AddrPort) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return netip.MustParseAddrPort(c.RemoteAddr().String()), netip.MustParseAddrPort(c.LocalAddr().String())
}

func TestTheHolderOfASocketIsFound(t *testing.T) {
	d, err := New(Config{Token: secret})
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Identify(ends(t))
	if err != nil || c.UID != uint32(os.Geteuid()) || !c.Self || c.Isolated {
		t.Errorf("caller %+v, %v; want this process", c, err)
	}
}

func TestHolderHasTheSameRoot(t *testing.T) {
	proc, other := t.TempDir(), t.TempDir()
	process := func(pid int, root string, links ...string) {
		dir := filepath.Join(proc, strconv.Itoa(pid))
		if err := os.MkdirAll(filepath.Join(dir, "fd"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(root, filepath.Join(dir, "root")); err != nil {
			t.Fatal(err)
		}
		for i, link := range links {
			if err := os.Symlink(link, filepath.Join(dir, "fd", strconv.Itoa(i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	process(10, "/", "/dev/null", "socket:[7]", "socket:[71]")
	process(11, other, "socket:[7]", "socket:[8]")
	process(12, "/", "socket:[7", "pipe:[8]", "socket:[9]0")
	for inode, want := range map[uint32]struct {
		pid int
		err error
	}{7: {10, nil}, 71: {10, nil}, 8: {0, nil}, 9: {0, errNoHolder}} {
		if pid, err := findHolder(proc, inode); pid != want.pid || err != want.err {
			t.Errorf("socket %d: process %d, %v; want %d, %v", inode, pid, err, want.pid, want.err)
		}
	}
}

// BenchmarkIdentify measures what a new connection costs more.
func BenchmarkIdentify(b *testing.B) {
	d, err := New(Config{Token: secret})
	if err != nil {
		b.Fatal(err)
	}
	local, remote := ends(b)
	for b.Loop() {
		if _, err := d.Identify(local, remote); err != nil {
			b.Fatal(err)
		}
	}
}
