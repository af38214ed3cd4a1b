// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/beneath"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// makeFiles creates the directory of the container's changes, and the files that it sees instead
// of the image's.
func (p *plan) makeFiles() error {
	if err := removeFiles(p.task.Dir); err != nil {
		return err
	}
	dir := filesDir(p.task.Dir)
	for _, d := range []string{dir, dir + "/upper", dir + "/work", dir + "/volumes"} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return fmt.Errorf("make the container's directories: %w", err)
		}
	}
	for name, content := range map[string]func() (string, error){"hosts": p.hosts, "resolv.conf": p.resolver, "hostname": p.hostnameFile} {
		text, err := content()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
		}
		if err != nil {
			return fmt.Errorf("make the container's /etc/%s: %w", name, err)
		}
	}
	return nil
}

// removeFiles removes the files of the task's last container.
func removeFiles(d driver.Dir) error {
	dir, err := beneath.Open(d.Task)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.RemoveAll(filepath.Base(filesDir(d)))
}

func (p *plan) hosts() (string, error) {
	from := "/etc/hosts"
	if n := p.task.Network; n != nil && n.Hosts != "" {
		from = n.Hosts
	}
	b, err := readOptional(from)
	var text strings.Builder
	text.Write(b)
	if len(b) > 0 && b[len(b)-1] != '\n' {
		text.WriteByte('\n')
	}
	for _, h := range p.config.ExtraHosts {
		name, address, _ := strings.Cut(h, ":")
		fmt.Fprintf(&text, "%s\t%s\n", strings.Trim(address, "[]"), name)
	}
	return text.String(), err
}

func (p *plan) resolver() (string, error) {
	c := p.config
	from := "/etc/resolv.conf"
	if n := p.task.Network; n != nil && n.Resolver != "" {
		from = n.Resolver
	}
	b, err := readOptional(from)
	if err != nil || len(c.DNSServers)+len(c.DNSSearch)+len(c.DNSOptions) == 0 {
		return string(b), err
	}
	var text strings.Builder
	for line := range strings.Lines(string(b)) {
		key, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if key == "nameserver" && len(c.DNSServers) > 0 || (key == "search" || key == "domain") && len(c.DNSSearch) > 0 || key == "options" && len(c.DNSOptions) > 0 {
			continue
		}
		text.WriteString(strings.TrimRight(line, "\n") + "\n")
	}
	for _, s := range c.DNSServers {
		fmt.Fprintf(&text, "nameserver %s\n", s)
	}
	if len(c.DNSSearch) > 0 {
		fmt.Fprintf(&text, "search %s\n", strings.Join(c.DNSSearch, " "))
	}
	if len(c.DNSOptions) > 0 {
		fmt.Fprintf(&text, "options %s\n", strings.Join(c.DNSOptions, " "))
	}
	return text.String(), nil
}

func (p *plan) hostnameFile() (string, error) { return p.hostname() + "\n", nil }

// readOptional reads a file of the host that may be missing.
func readOptional(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// maxSecrets bounds the files of a task's secrets that get the container's user.
const maxSecrets = 1000

// ownFiles gives the regular files in a directory to a user. It follows no link.
func ownFiles(dir string, uid, gid int) error {
	in, err := beneath.Open(dir)
	if err != nil {
		return fmt.Errorf("open the task's secrets: %w", err)
	}
	defer in.Close()
	var names []string
	if err := in.Names(func(name string) { names = append(names, name) }); err != nil {
		return err
	}
	if len(names) > maxSecrets {
		return fmt.Errorf("the task has %d secrets: at most %d are possible", len(names), maxSecrets)
	}
	for _, name := range names {
		fd, err := unix.Openat(in.Fd(), name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			continue // it has just been replaced by another task
		}
		var st unix.Stat_t
		if err = unix.Fstat(fd, &st); err == nil && (st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink == 1 || st.Mode&unix.S_IFMT == unix.S_IFSOCK) {
			err = unix.Fchownat(fd, "", uid, gid, unix.AT_EMPTY_PATH)
		}
		unix.Close(fd)
		if err != nil {
			return fmt.Errorf("give a secret to the task's user: %w", err)
		}
	}
	return nil
}
