// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/pki"
)

func TestDamagedIdentityIsRefused(t *testing.T) {
	c := newCA()
	edit := func(name string, change func([]byte) []byte) func(string) error {
		return func(dir string) error {
			path := filepath.Join(dir, name)
			return os.WriteFile(path, change(must(os.ReadFile(path))), 0o600)
		}
	}
	remove := func(name string) func(string) error {
		return func(dir string) error { return os.Remove(filepath.Join(dir, name)) }
	}
	chmod := func(name string, mode os.FileMode) func(string) error {
		return func(dir string) error { return os.Chmod(filepath.Join(dir, name), mode) }
	}
	half := func(text []byte) []byte { return text[:len(text)/2] }
	nothing := func([]byte) []byte { return nil }
	constant := func(text []byte) func([]byte) []byte { return func([]byte) []byte { return text } }
	for _, k := range []struct {
		what   string
		damage func(dir string) error
		say    []string
	}{
		{"truncated cert.pem", edit(certFile, half), []string{"cert.pem", "truncated", "backup", "join again"}},
		{"truncated key.pem", edit(keyFile, half), []string{"key.pem", "truncated", "backup"}},
		{"truncated roots.pem", edit(rootsFile, half), []string{"roots.pem", "truncated"}},
		{"truncated server.key", edit(sealFile, half), []string{"server.key", "truncated"}},
		{"truncated member.json", edit(memberFile, half), []string{"member.json", "damaged"}},
		{"empty cert.pem", edit(certFile, nothing), []string{"cert.pem", "no PEM block"}},
		{"empty key.pem", edit(keyFile, nothing), []string{"key.pem", "no PEM block"}},
		{"empty member.json", edit(memberFile, nothing), []string{"member.json", "damaged"}},
		{"other key", edit(keyFile, constant(must(pki.NewKey()))), []string{"cert.pem", "does not belong"}},
		{"key of another kind in server.key", edit(sealFile, constant(must(pki.NewKey()))), []string{"server.key", "X25519"}},
		{"other roots", edit(rootsFile, constant(newCA().CertPEM())), []string{"cert.pem", "another cluster"}},
		{"other id", edit(memberFile, func(b []byte) []byte { return bytes.Replace(b, []byte(`"s1"`), []byte(`"s2"`), 1) }), []string{"belongs to member s1"}},
		{"node that calls itself a server", edit(memberFile, func(b []byte) []byte { return bytes.Replace(b, []byte(`"server"`), []byte(`"node"`), 1) }), []string{"role server"}},
		{"huge roots.pem", edit(rootsFile, constant(bytes.Repeat([]byte("x"), maxFileSize+1))), []string{"roots.pem", "more than 65536 bytes"}},
		{"no member.json", remove(memberFile), []string{"member.json is missing", "join again"}},
		{"no cert.pem", remove(certFile), []string{"cert.pem is missing"}},
		{"no key.pem", remove(keyFile), []string{"key.pem is missing"}},
		{"no roots.pem", remove(rootsFile), []string{"roots.pem is missing"}},
		{"no server.key", remove(sealFile), []string{"server.key is missing"}},
		{"no cluster", edit(memberFile, constant([]byte(`{"id":"s1"}`))), []string{"does not name its cluster"}},
		{"group reads key.pem", chmod(keyFile, 0o640), []string{"key.pem has mode 0640", "read the secret key", "chmod 600 "}},
		{"others read server.key", chmod(sealFile, 0o604), []string{"server.key has mode 0604", "chmod 600 "}},
		{"group writes roots.pem", chmod(rootsFile, 0o660), []string{"roots.pem has mode 0660", "can change it", "chmod 600 "}},
		{"others write the directory", chmod(".", 0o777), []string{"mode 0777", "can change it", "chmod 700 "}},
		{"symbolic link", func(dir string) error {
			path := filepath.Join(dir, keyFile)
			return errors.Join(os.Rename(path, path+".real"), os.Symlink(path+".real", path))
		}, []string{"key.pem", "symbolic links"}},
		{"directory", func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, certFile)), os.Mkdir(filepath.Join(dir, certFile), 0o700))
		}, []string{"cert.pem is no regular file"}},
		{"file of another user", func(dir string) error { return os.Chown(filepath.Join(dir, keyFile), 4242, -1) }, []string{"belongs to user 4242", "chown"}},
		{"foreign file in a change", func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, nextName), 0o700), os.WriteFile(filepath.Join(dir, nextName, "lock"), nil, 0o600))
		}, []string{"not a file of this program"}},
	} {
		dir := identityDir(t)
		c.join(t, dir, member("s1", pki.RoleServer))
		if err := k.damage(dir); err != nil {
			t.Fatalf("%s: %v", k.what, err)
		}
		_, err := Open(dir)
		wantWords(t, k.what, err, append(k.say, "open identity in", dir)...)
		if key, _ := os.ReadFile(filepath.Join(dir, keyFile)); err != nil && len(key) > 60 && strings.Contains(err.Error(), string(key[40:60])) {
			t.Errorf("%s: the error quotes the key: %v", k.what, err)
		}
	}
}

func TestNodeNeedsNoSealKey(t *testing.T) {
	dir, c := identityDir(t), newCA()
	c.join(t, dir, member("n1", pki.RoleNode))
	if err := os.Remove(filepath.Join(dir, sealFile)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatalf("a node without server.key: %v", err)
	}
	if _, public, err := s.Prepare("n1"); err != nil || len(public) != 32 {
		t.Errorf("Prepare makes no seal key: %v", err)
	}
}

// TestCrashLeavesTheEarlierOrTheLaterIdentity stops a renewal before each of its steps.
func TestCrashLeavesTheEarlierOrTheLaterIdentity(t *testing.T) {
	c := newCA()
	m := member("s1", pki.RoleServer)
	crash := errors.New("the machine stopped")
	var seen []string
	for n := 0; ; n++ {
		dir := identityDir(t)
		s := c.join(t, dir, m)
		oldCert := string(must(os.ReadFile(filepath.Join(dir, certFile))))
		key := must(pki.NewKey())
		newCert := string(c.sign(must(pki.NewRequest(key, m.ID)), m, 0))
		steps, crashed := 0, ""
		s.dir.step = func(name string) error {
			steps++
			if steps > n { // nothing happens after a crash
				if crashed == "" {
					crashed = name
				}
				return crash
			}
			return nil
		}
		s.setPending(key)
		err := s.Enter(m, []byte(newCert), c.CertPEM())
		if crashed == "" {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		if !errors.Is(err, crash) {
			t.Fatalf("crash before %q: error %v", crashed, err)
		}
		again, err := Open(dir)
		if err != nil {
			t.Errorf("crash before %q: the identity is damaged: %v", crashed, err)
			continue
		}
		switch got := string(must(os.ReadFile(filepath.Join(dir, certFile)))); {
		case got == oldCert:
			seen = append(seen, "old")
		case got == newCert:
			seen = append(seen, "new")
		default:
			t.Errorf("crash before %q: the certificate is neither the earlier nor the later one", crashed)
		}
		if got := contents(t, dir); len(got) != len(fileNames)+1 {
			t.Errorf("crash before %q: %d files, want %d", crashed, len(got), len(fileNames)+1)
		}
		csr, _, err := again.Prepare(m.ID)
		if err == nil {
			err = again.Enter(m, c.sign(csr, m, 0), c.CertPEM())
		}
		if err != nil {
			t.Errorf("crash before %q: the next change fails: %v", crashed, err)
		}
	}
	if text := strings.Join(seen, " "); len(seen) < 8 || !strings.HasPrefix(text, "old old") || !strings.HasSuffix(text, "new new") || strings.Contains(text, "new old") {
		t.Errorf("the crashes left %s: want old ones, then new ones", text)
	}
}
