// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package listener finds the processes of this machine that listen on a TCP port, so that a
// check whose connection is refused can name them. It only reads /proc, and ignores
// processes that it may not inspect.
package listener

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Listener is a socket that accepts TCP connections.
type Listener struct {
	Addr  netip.AddrPort
	inode string
}

// Covers reports whether a connection to the address reaches the listener.
func (l Listener) Covers(to netip.Addr) bool {
	at, to := l.Addr.Addr().Unmap(), to.Unmap()
	if at.IsUnspecified() {
		return at.Is6() || to.Is4() // "::" covers IPv4 unless configured otherwise
	}
	return at == to
}

// listenersOn returns the listeners on a port in the network namespace of a process; 0 means this
// process.
func listenersOn(pid int, port uint16) ([]Listener, error) {
	return on(procDir(pid), port)
}

func procDir(pid int) string {
	if pid == 0 {
		return "/proc/thread-self" // the main thread, which /proc/self shows, may be in another namespace
	}
	return "/proc/" + strconv.Itoa(pid)
}

func on(dir string, port uint16) (all []Listener, err error) {
	for _, table := range []string{"tcp", "tcp6"} {
		f, err := os.Open(filepath.Join(dir, "net", table))
		if errors.Is(err, fs.ErrNotExist) && table == "tcp6" {
			continue // a kernel without IPv6
		}
		if err != nil {
			return nil, fmt.Errorf("read listening sockets: %w", err)
		}
		some, err := parse(f, port)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("read listening sockets: %w", err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// stateListen is the state of a listening socket in /proc/net/tcp.
const stateListen = "0A"

// parse parses a table of sockets.
func parse(table io.Reader, port uint16) (all []Listener, err error) {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 10 || f[3] != stateListen {
			continue
		}
		addr, err := parseAddr(f[1])
		if err != nil {
			return nil, err
		}
		if addr.Port() == port {
			all = append(all, Listener{addr, f[9]})
		}
	}
	return all, lines.Err()
}

// parseAddr parses an address in the kernel's format: words of four bytes in the machine's
// byte order, and the port.
func parseAddr(text string) (netip.AddrPort, error) {
	host, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host)
	n, portErr := strconv.ParseUint(port, 16, 16)
	if err != nil || portErr != nil || len(raw) != 4 && len(raw) != 16 {
		return netip.AddrPort{}, fmt.Errorf("%q is no address of a socket", text)
	}
	for i := 0; i < len(raw); i += 4 {
		binary.BigEndian.PutUint32(raw[i:], binary.NativeEndian.Uint32(raw[i:]))
	}
	addr, _ := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), nil
}
