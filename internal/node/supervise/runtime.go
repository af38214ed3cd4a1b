// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// runtimeFiles holds the programs of container runtimes in memory that nobody can write, by path.
//
// A container that could write to its runtime's program would own the node (CVE-2019-5736). So runc makes itself a copy
// or a mount at each start, and starts itself again from there, unless it runs from sealed memory already. Here one copy
// serves all starts.
type runtimeFiles struct {
	mu   sync.Mutex
	held map[string]runtimeFile
}

type runtimeFile struct {
	memory  *os.File
	version fileVersion
}

// A fileVersion differs for files of different content.
type fileVersion struct {
	dev, ino        uint64
	size            int64
	modified, since unix.Timespec
}

// use makes p start the program in its first argument, from memory if that is possible. Call done when it has started.
func (r *runtimeFiles) use(p *process) (done func()) {
	p.path = p.argv[0]
	fd := r.open(p.path)
	if fd < 0 {
		return func() {}
	}
	p.path, p.other = fmt.Sprintf("/proc/self/fd/%d", fd), p.path
	return func() { unix.Close(fd) }
}

// open returns a new descriptor of the program; -1 if it has to be started from its path.
func (r *runtimeFiles) open(path string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return -1
	}
	f, version := r.held[path], fileVersion{dev: st.Dev, ino: st.Ino, size: st.Size, modified: st.Mtim, since: st.Ctim}
	if f.version != version {
		if f.memory != nil {
			f.memory.Close() // it lasts until its last process has ended
		}
		f = runtimeFile{version: version}
		f.memory, _ = sealedCopy(path)
		if r.held == nil {
			r.held = map[string]runtimeFile{}
		}
		r.held[path] = f
	}
	if f.memory == nil {
		return -1
	}
	fd, err := duplicate(f.memory)
	if err != nil {
		return -1
	}
	return fd
}

// runtimeSeals are the seals that runc looks for.
const runtimeSeals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE

// sealedCopy copies a program into memory. Scripts cannot be started from there.
func sealedCopy(path string) (*os.File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	magic := make([]byte, 4)
	if _, err := in.ReadAt(magic, 0); err != nil || !bytes.Equal(magic, []byte("\x7fELF")) {
		return nil, fmt.Errorf("%s is not a binary", path)
	}
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("runtime", flags|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3
		fd, err = unix.MemfdCreate("runtime", flags)
	}
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	out := os.NewFile(uintptr(fd), "runtime")
	if _, err = io.Copy(out, in); err == nil {
		_, err = unix.FcntlInt(out.Fd(), unix.F_ADD_SEALS, runtimeSeals)
	}
	if err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}
