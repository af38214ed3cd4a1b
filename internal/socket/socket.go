// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// A Socket is one end of a connection, as described by the kernel.
type Socket struct {
	UID   uint32 // of its creator
	Inode uint32 // never 0
	Group uint64 // id of the v2 control group in which it was created; 0: unknown
	state byte
}

// States of a TCP socket with a live connection.
const (
	established = 1
	finWait1    = 4
	finWait2    = 5
	closeWait   = 8
)

// stands reports whether a process holds the socket of a live connection. For other sockets
// the kernel reports root instead of the user.
func (s Socket) stands() bool {
	switch s.state {
	case established, finWait1, finWait2, closeWait:
		return s.Inode != 0
	}
	return false
}

// Sizes and offsets of linux/inet_diag.h and linux/sock_diag.h.
const (
	sockDiagByFamily = 20
	requestSize      = unix.SizeofNlMsghdr + 56
	messageSize      = 72
	attributeHeader  = 4
	attributeGroup   = 21 // INET_DIAG_CGROUP_ID, since Linux 5.8
)

// Find asks the kernel for the socket at remote of the connection to local. It takes a few
// microseconds, independent of the number of sockets. Sockets of other machines and of other
// network namespaces are not found.
func Find(local, remote netip.AddrPort) (Socket, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return Socket{}, fmt.Errorf("open a netlink socket: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}); err != nil {
		return Socket{}, fmt.Errorf("bound the wait for the kernel: %w", err)
	}
	request, err := diagRequest(local, remote)
	if err != nil {
		return Socket{}, err
	}
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return Socket{}, fmt.Errorf("ask the kernel for a socket: %w", err)
	}
	answer := make([]byte, 4096)
	n, from, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return Socket{}, fmt.Errorf("hear of a socket from the kernel: %w", err)
	}
	if sender, ok := from.(*unix.SockaddrNetlink); !ok || sender.Pid != 0 {
		return Socket{}, errors.New("hear of a socket: the answer is not the kernel's")
	}
	return parseDiag(answer[:n], local, remote)
}

func diagRequest(local, remote netip.AddrPort) ([]byte, error) {
	here, there := local.Addr().Unmap(), remote.Addr().Unmap()
	if here.Is4() != there.Is4() || here.Zone() != "" || there.Zone() != "" {
		return nil, fmt.Errorf("the addresses %s and %s are of two kinds", here, there)
	}
	b := make([]byte, requestSize)
	native := binary.NativeEndian
	native.PutUint32(b, requestSize)
	native.PutUint16(b[4:], sockDiagByFamily)
	native.PutUint16(b[6:], unix.NLM_F_REQUEST)
	q := b[unix.SizeofNlMsghdr:]
	q[0], q[1] = unix.AF_INET6, unix.IPPROTO_TCP
	if here.Is4() {
		q[0] = unix.AF_INET
	}
	native.PutUint32(q[4:], 0xffffffff) // any state
	id := q[8:]
	binary.BigEndian.PutUint16(id, remote.Port())
	binary.BigEndian.PutUint16(id[2:], local.Port())
	copy(id[4:20], there.AsSlice())
	copy(id[20:36], here.AsSlice())
	native.PutUint64(id[40:], 0xffffffffffffffff) // any cookie
	return b, nil
}

func parseDiag(answer []byte, local, remote netip.AddrPort) (Socket, error) {
	native := binary.NativeEndian
	if len(answer) < unix.SizeofNlMsghdr+4 {
		return Socket{}, errors.New("hear of a socket: the answer is too short")
	}
	body := answer[unix.SizeofNlMsghdr:]
	switch kind := native.Uint16(answer[4:]); {
	case kind == unix.NLMSG_ERROR:
		errno := unix.Errno(-int32(native.Uint32(body)))
		if errno == unix.ENOENT {
			return Socket{}, errors.New("its socket is not on this machine, or is closed")
		}
		return Socket{}, fmt.Errorf("ask the kernel for a socket: %w", errno)
	case kind != sockDiagByFamily || len(body) < messageSize:
		return Socket{}, errors.New("hear of a socket: the answer is not about one")
	}
	// Without a connection, the kernel returns a matching listener.
	s := Socket{state: body[1], UID: native.Uint32(body[64:]), Inode: native.Uint32(body[68:]), Group: groupOf(body[messageSize:])}
	if id := body[4:]; !s.stands() || diagAddr(body[0], id, 0) != unmap(remote) || diagAddr(body[0], id, 1) != unmap(local) {
		return Socket{}, errors.New("its socket is closed")
	}
	return s, nil
}

// groupOf returns the control group among a message's attributes; 0 if it is missing.
func groupOf(attributes []byte) uint64 {
	native := binary.NativeEndian
	for len(attributes) >= attributeHeader {
		size := int(native.Uint16(attributes))
		if size < attributeHeader || size > len(attributes) {
			return 0
		}
		if native.Uint16(attributes[2:]) == attributeGroup && size == attributeHeader+8 {
			return native.Uint64(attributes[attributeHeader:])
		}
		attributes = attributes[min((size+3)&^3, len(attributes)):]
	}
	return 0
}

// diagAddr returns the source (0) or the destination (1) of a socket's id.
func diagAddr(family byte, id []byte, i int) netip.AddrPort {
	size := net.IPv6len
	if family == unix.AF_INET {
		size = net.IPv4len
	}
	ip, _ := netip.AddrFromSlice(id[4+16*i:][:size])
	return unmap(netip.AddrPortFrom(ip, binary.BigEndian.Uint16(id[2*i:])))
}

func unmap(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }
