// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestListenFollowsNoLinkOut puts a link in the place of the directory of secrets.
func TestListenFollowsNoLinkOut(t *testing.T) {
	d, err := Open(filepath.Join(t.TempDir(), strings.Repeat("long", 30)))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	owner, err := OwnerOf("nobody")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Build("a", "task", Layout{Owner: owner}); err != nil {
		t.Fatal(err)
	}
	secrets := d.Task("a", "task").Secrets
	for range 2 { // again at every start
		l, err := d.Listen("a", "task", owner)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(filepath.Join(secrets, SocketName))
		if err != nil || info.Mode() != os.ModeSocket|0o600 {
			t.Errorf("the socket has mode %v, %v", info, err)
		} else if uid := info.Sys().(*syscall.Stat_t).Uid; owner.set && int(uid) != owner.uid {
			t.Errorf("the socket belongs to user %d, not to %d", uid, owner.uid)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := net.Dial("unix", filepath.Join(secrets, SocketName)); err == nil {
		t.Error("the socket answers after its end")
	}
	elsewhere := t.TempDir()
	if err := d.RemoveSecrets("a"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Dir(secrets), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, secrets); err != nil {
		t.Fatal(err)
	}
	if l, err := d.Listen("a", "task", owner); err == nil {
		t.Errorf("it listens at %s", l.Addr())
	}
	if names, err := os.ReadDir(elsewhere); err != nil || len(names) > 0 {
		t.Errorf("behind the link: %v, %v", names, err)
	}
	if l, err := d.Listen("a", "none", owner); err == nil {
		t.Errorf("without directories it listens at %s", l.Addr())
	}
}
