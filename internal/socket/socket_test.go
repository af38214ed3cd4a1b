// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
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

func find(c net.Conn) (Socket, error) {
	return Find(netip.MustParseAddrPort(c.LocalAddr().String()), netip.MustParseAddrPort(c.RemoteAddr().String()))
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
		if err != nil || s.UID != uint32(os.Geteuid()) {
			t.Errorf("%v: user %d, %v; want this one's", c, s.UID, err)
		}
		var own unix.Stat_t
		fdOf(t, client, func(fd int) error { return unix.Fstat(fd, &own) })
		if uint64(s.Inode) != own.Ino {
			t.Errorf("%v: inode %d, want the client's %d", c, s.Inode, own.Ino)
		}
		if os.Geteuid() != 0 {
			continue
		}
		fdOf(t, client, func(fd int) error { return unix.Fchown(fd, 65534, -1) })
		if s, err := find(server); err != nil || s.UID != 65534 {
			t.Errorf("%v: user %d, %v; want 65534", c, s.UID, err)
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
	if s, err := find(server); err != nil || s.UID != uint32(os.Geteuid()) {
		t.Errorf("user %d, %v; want this one's", s.UID, err)
	}
}

// The kernel forgets whose a socket was when that is closed, and says root.
func TestAClosedSocketIsNobodys(t *testing.T) {
	server, client := pair(t, "127.0.0.1:0", "tcp4", "127.0.0.1")
	client.Close()
	if s, err := find(server); err == nil {
		t.Errorf("a closed socket is user %d's", s.UID)
	}
	server.Close()
	if s, err := find(server); err == nil {
		t.Errorf("a socket after its end is user %d's", s.UID)
	}
	half, client2 := pair(t, "127.0.0.1:0", "tcp4", "127.0.0.1")
	client2.CloseWrite()
	if s, err := find(half); err != nil || s.UID != uint32(os.Geteuid()) {
		t.Errorf("a caller that has sent everything: user %d, %v; want this one's", s.UID, err)
	}
}

// Where a connection is gone, the kernel finds a listener of the same port.
func TestAListenerIsNoCaller(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if s, err := Find(netip.MustParseAddrPort("127.0.0.1:9"), netip.MustParseAddrPort(l.Addr().String())); err == nil {
		t.Errorf("a listener is taken for a caller of user %d", s.UID)
	}
	for _, remote := range []string{"192.0.2.1:80", "[::1%lo]:80", "[::1]:80"} {
		if s, err := Find(netip.MustParseAddrPort("127.0.0.1:9"), netip.MustParseAddrPort(remote)); err == nil {
			t.Errorf("%s is taken for a caller of user %d", remote, s.UID)
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
		if s, err := parseDiag(answer, local, remote); err == nil && s.Inode == 0 {
			t.Errorf("a socket without an inode: %+v", s)
		}
	})
}

func TestAttributesOfASocketAreBounded(t *testing.T) {
	group := func(size, kind uint16, value uint64) []byte {
		b := binary.NativeEndian.AppendUint16(nil, size)
		b = binary.NativeEndian.AppendUint16(b, kind)
		return binary.NativeEndian.AppendUint64(b, value)
	}
	for _, test := range []struct {
		name       string
		attributes []byte
		want       uint64
	}{
		{"none", nil, 0},
		{"the group", group(12, attributeGroup, 7), 7},
		{"after another", append(group(12, 8, 9), group(12, attributeGroup, 7)...), 7},
		{"after one of odd length", append([]byte{5, 0, 8, 0, 1, 0, 0, 0}, group(12, attributeGroup, 7)...), 7},
		{"too short", group(8, attributeGroup, 7), 0},
		{"without a length", group(0, attributeGroup, 7), 0},
		{"cut", group(12, attributeGroup, 7)[:10], 0},
	} {
		if got := groupOf(test.attributes); got != test.want {
			t.Errorf("%s: group %d, want %d", test.name, got, test.want)
		}
	}
}

// BenchmarkFind measures the lookup of one socket.
func BenchmarkFind(b *testing.B) {
	server, _ := pair(b, "127.0.0.1:0", "tcp4", "127.0.0.1")
	for b.Loop() {
		if _, err := find(server); err != nil {
			b.Fatal(err)
		}
	}
}
