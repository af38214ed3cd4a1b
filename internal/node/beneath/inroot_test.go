// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package beneath

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestInRootFollowsLinksLikeAChroot(t *testing.T) {
	p := open(t)
	must(t, os.MkdirAll(p.at("etc/sub"), 0o700))
	must(t, os.WriteFile(p.at("etc/mine"), nil, 0o600))
	for name, to := range map[string]string{"abs": "/etc", "up": "../../../etc", "sub": "abs/sub", "host": filepath.Dir(p.precious), "magic": "/proc/self/root"} {
		must(t, os.Symlink(to, p.at(name)))
	}
	for path, want := range map[string]error{
		"etc": nil, "/etc": nil, "../etc": nil, "abs": nil, "up": nil, "/abs/../up/": nil, "sub": nil, "/": nil,
		"host": unix.ENOENT, "magic": unix.ENOENT, "etc/mine": unix.ENOTDIR, "": unix.ENOENT,
	} {
		d, err := p.InRoot(path)
		if !errors.Is(err, want) {
			t.Errorf("%q: error = %v, want %v", path, err, want)
		}
		if err != nil {
			continue
		}
		var got, inside unix.Stat_t
		must(t, unix.Fstat(d.Fd(), &got))
		where := map[string]string{"/": ".", "sub": "etc/sub"}[path]
		if where == "" {
			where = "etc"
		}
		must(t, unix.Stat(p.at(where), &inside))
		if got.Ino != inside.Ino {
			t.Errorf("%q leads elsewhere than to %s", path, where)
		}
		d.Close()
	}
}
