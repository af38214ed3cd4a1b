// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// pair is a connection over loopback: the server's end and the client's.
func pair(t testing.TB, listen, network, address string) (server, client *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", listen)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	c, err := net.Dial(network, net.JoinHostPort(address, port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.(*net.TCPConn), c.(*net.TCPConn)
}

func find(c net.Conn) (socket, error) {
	return findSocket(netip.MustParseAddrPort(c.LocalAddr().String()), netip.MustParseAddrPort(c.RemoteAddr().String()))
}

func fdOf(t testing.TB, c *net.TCPConn, f func(fd int) error) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(raw.Control(func(fd uintptr) { err = f(int(fd)) }), err); err != nil {
		t.Fatal(err)
	}
}

func TestTheKernelSaysWhoseASocketIs(t *testing.T) {
	for _, c := range []struct{ listen, network, address string }{
		{"127.0.0.1:0", "tcp4", "127.0.0.1"}, {"[::1]:0", "tcp6", "::1"}, {"127.0.0.1:0", "tcp", "::ffff:127.0.0.1"}, {"[::]:0", "tcp4", "127.0.0.1"},
	} {
		server, client := pair(t, c.listen, c.network, c.address)
		s, err := find(server)
		if err != nil || s.uid != uint32(os.Geteuid()) {
			t.Errorf("%v: user %d, %v; want this one's", c, s.uid, err)
		}
		var own unix.Stat_t
		fdOf(t, client, func(fd int) error { return unix.Fstat(fd, &own) })
		if uint64(s.inode) != own.Ino {
			t.Errorf("%v: inode %d, want the client's %d", c, s.inode, own.Ino)
		}
		if pid, err := findHolder("/proc", s.inode); err != nil || pid != os.Getpid() {
			t.Errorf("%v: process %d, %v; want this one", c, pid, err)
		}
		if os.Geteuid() != 0 {
			continue
		}
		fdOf(t, client, func(fd int) error { return unix.Fchown(fd, 65534, -1) })
		if s, err := find(server); err != nil || s.uid != 65534 {
			t.Errorf("%v: user %d, %v; want 65534", c, s.uid, err)
		}
	}
}

// A v4-mapped client has a socket of the other family.
func TestAMappedClientIsFound(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	to := &unix.SockaddrInet6{Port: l.Addr().(*net.TCPAddr).Port, Addr: netip.MustParseAddr("::ffff:127.0.0.1").As16()}
	if err := unix.Connect(fd, to); err != nil {
		t.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if s, err := find(server); err != nil || s.uid != uint32(os.Geteuid()) {
		t.Errorf("user %d, %v; want this one's", s.uid, err)
	}
}

// The kernel forgets whose a socket was when that is closed, and says root.
func TestAClosedSocketIsNobodys(t *testing.T) {
	server, client := pair(t, "127.0.0.1:0", "tcp4", "127.0.0.1")
	client.Close()
	if s, err := find(server); err == nil {
		t.Errorf("a closed socket is user %d's", s.uid)
	}
	server.Close()
	if s, err := find(server); err == nil {
		t.Errorf("a socket after its end is user %d's", s.uid)
	}
	half, client2 := pair(t, "127.0.0.1:0", "tcp4", "127.0.0.1")
	client2.CloseWrite()
	if s, err := find(half); err != nil || s.uid != uint32(os.Geteuid()) {
		t.Errorf("a caller that has sent everything: user %d, %v; want this one's", s.uid, err)
	}
}

// Where a connection is gone, the kernel finds a listener of the same port.
func TestAListenerIsNoCaller(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if s, err := findSocket(netip.MustParseAddrPort("127.0.0.1:9"), netip.MustParseAddrPort(l.Addr().String())); err == nil {
		t.Errorf("a listener is taken for a caller of user %d", s.uid)
	}
	for _, remote := range []string{"192.0.2.1:80", "[::1%lo]:80", "[::1]:80"} {
		if s, err := findSocket(netip.MustParseAddrPort("127.0.0.1:9"), netip.MustParseAddrPort(remote)); err == nil {
			t.Errorf("%s is taken for a caller of user %d", remote, s.uid)
		}
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

func FuzzAnswersOfTheKernel(f *testing.F) {
	local, remote := netip.MustParseAddrPort("127.0.0.1:1"), netip.MustParseAddrPort("127.0.0.1:2")
	request, err := diagRequest(local, remote)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Add(request)
	f.Fuzz(func(t *testing.T, answer []byte) {
		if s, err := parseDiag(answer, local, remote); err == nil && s.inode == 0 {
			t.Errorf("a socket without an inode: %+v", s)
		}
	})
}

// BenchmarkIdentify is what a new connection costs more.
func BenchmarkIdentify(b *testing.B) {
	d, err := New(Config{Token: secret})
	if err != nil {
		b.Fatal(err)
	}
	server, _ := pair(b, "127.0.0.1:0", "tcp4", "127.0.0.1")
	local, remote := netip.MustParseAddrPort(server.LocalAddr().String()), netip.MustParseAddrPort(server.RemoteAddr().String())
	b.Run("socket", func(b *testing.B) {
		for b.Loop() {
			if _, err := findSocket(local, remote); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("process", func(b *testing.B) {
		for b.Loop() {
			if _, err := d.Identify(local, remote); err != nil {
				b.Fatal(err)
			}
		}
	})
}
