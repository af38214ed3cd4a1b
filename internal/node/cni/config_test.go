// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cni

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFilesOfNetworks(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "10-a.conf", `{"name":"shop","type":"single"}`)
	write(t, dir, "20-a.conflist", `{"name":"shop","cniVersion":"1.0.0","plugins":[{"type":"list"}]}`)
	write(t, dir, "30-b.json", `{"name":"alone","cniVersion":"0.4.0","type":"json"}`)
	write(t, dir, "40-c.txt", `{"name":"text","type":"x"}`)
	write(t, dir, "50-d.conflist", `{"name":"new","cniVersion":"1.0.0","cniVersions":["0.4.0","1.1.0","9.0.0"],"plugins":[{"type":"x"}]}`)
	write(t, dir, "60-broken.conflist", `{"name":`)
	if err := unix.Mkfifo(filepath.Join(dir, "70-pipe.conflist"), 0o600); err != nil {
		t.Fatal(err)
	}
	dirs := []string{filepath.Join(dir, "absent"), dir}
	for name, want := range map[string]string{"shop": "20-a.conflist 1.0.0", "alone": "30-b.json 0.4.0", "new": "50-d.conflist 1.1.0"} {
		n, err := Find(dirs, name)
		if err != nil || filepath.Base(n.File)+" "+n.Version != want {
			t.Errorf("%s: %+v, %v; want %s", name, n, err, want)
		}
	}
	for _, name := range []string{"text", "", "../shop", "shop/..", "a\nb", strings.Repeat("a", 65)} {
		if n, err := Find(dirs, name); err == nil {
			t.Errorf("%q: %+v", name, n)
		}
	}
	_, err := Find(dirs, "text")
	for _, want := range []string{"no file in " + dirs[0] + " and " + dir + " configures the CNI network text", "60-broken.conflist: it is no valid JSON", "70-pipe.conflist is no regular file"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	write(t, dir, "20-a.conflist", `{"name":"shop","cniVersion":"1.0.0","plugins":[{"type":"changed"}]}`)
	if n, err := Find(dirs, "shop"); err != nil || n.Programs()[0] != "changed" {
		t.Errorf("a changed file: %+v, %v", n, err)
	}
}

func TestBadConfigurations(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"a"}`:                                      "neither plugins nor type",
		`{"name":"a","plugins":[]}`:                         "it has 0 plugins",
		`{"name":"../a","type":"x"}`:                        "name \"../a\"",
		`{"name":"a","type":"../x"}`:                        "must be the name of a program",
		`{"name":"a","type":"x","ipam":{"type":"/bin/sh"}}`: "must be the name of a program",
		`{"name":"a","type":"x","cniVersion":"2.0.0"}`:      "cniVersion \"2.0.0\" is not supported",
		`{"name":"a","plugins":[1]}`:                        "plugin 1: ",
		`{"name":"a","plugins":[` + strings.Repeat(`{"type":"x"},`, 32) + `{"type":"x"}]}`: "it has 33 plugins",
	} {
		if n, err := parse("f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want %s", text, n, err, want)
		}
	}
	dir := t.TempDir()
	write(t, dir, "big.conf", `{"name":"a","type":"x"}`+strings.Repeat(" ", maxFile))
	if f := List([]string{dir}); len(f) != 1 || f[0].Err == nil || !strings.Contains(f[0].Err.Error(), "larger than") {
		t.Errorf("%+v", f)
	}
}

func TestMissingPluginsAreNamed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "bridge", "") // not executable
	n, err := parse("/etc/cni/net.d/shop.conf", []byte(`{"name":"shop","type":"bridge","ipam":{"type":"host-local"}}`))
	if err != nil {
		t.Fatal(err)
	}
	err = n.Missing([]string{dir})
	for _, want := range []string{"CNI network shop", "bridge, host-local", dir, "containernetworking-plugins", "/etc/cni/net.d/shop.conf"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestHostileFilesHaveShortErrors(t *testing.T) {
	dir := t.TempDir()
	for i := range maxFiles + 50 {
		text := `{"name":"a","plugins":[{"type":"x","capabilities":{"a":` + strings.Repeat("9", 5000) + `}}]}`
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d\x1b[31m.conf", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := List([]string{dir})
	if len(found) != maxFiles+1 || !strings.Contains(found[maxFiles].Err.Error(), "more than 256 CNI configurations") {
		t.Errorf("%d findings, the last one is %v", len(found), found[len(found)-1].Err)
	}
	if _, err := Find([]string{dir}, "shop"); err == nil || len(err.Error()) > 4000 || strings.ContainsAny(err.Error(), "\x1b\n") || !strings.Contains(err.Error(), "plugin 1") {
		t.Error(err)
	}
}

func FuzzResult(f *testing.F) {
	f.Add([]byte(goodResult))
	f.Add([]byte(`{"ip4":{"ip":"192.0.2.7/24"},"dns":{"search":["a"]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ParseResult(text, "/run/ns")
		if err != nil {
			return
		}
		if strings.ContainsAny(r.Interface, "/ \n") || len(r.Interface) > 15 || len(r.Servers) > maxResolvers {
			t.Errorf("%+v", r)
		}
	})
}
