// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// A journal is a log that tests read.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) count(text string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Count(j.text.String(), text)
}

// provide writes the files of a certificate for a member, as another program does.
func (c ca) provide(t *testing.T, dir string, m Member, ago time.Duration) Files {
	t.Helper()
	key := must(pki.NewKey())
	f := Files{CA: filepath.Join(dir, "ca.pem"), Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), Region: "global"}
	for path, text := range map[string][]byte{f.CA: c.CertPEM(), f.Cert: c.sign(must(pki.NewRequest(key, m.ID)), m, ago), f.Key: key} {
		replace(t, path, text)
	}
	return f
}

// replace replaces a file by a rename.
func replace(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path+".new", text, 0o600), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
}

// openExternal returns an identity from files, and its log.
func openExternal(t *testing.T, files Files) (*External, *journal) {
	t.Helper()
	e, err := OpenExternal(identityDir(t), files)
	if err != nil {
		t.Fatal(err)
	}
	log := &journal{}
	e.Logger = slog.New(slog.NewTextHandler(log, nil))
	return e, log
}

func TestMembersWithExternalCertificates(t *testing.T) {
	c := newCA()
	server, _ := openExternal(t, c.provide(t, t.TempDir(), member("s1", pki.RoleServer), 0))
	node, _ := openExternal(t, c.provide(t, t.TempDir(), member("n1", pki.RoleNode), 0))
	onClient, onServer, err1, err2 := shake(t, node.ClientConfig("h2"), server.ServerConfig("h2"))
	if err1 != nil || err2 != nil {
		t.Fatalf("client %v, server %v", err1, err2)
	}
	if id, ok := server.Peer(onServer); !ok || id.ID != "n1" || id.Role != pki.RoleNode {
		t.Errorf("the server sees %+v, %v", id, ok)
	}
	if id, ok := node.Peer(onClient); !ok || id.ID != "s1" || id.Role != pki.RoleServer {
		t.Errorf("the node sees %+v, %v", id, ok)
	}
	if _, _, err, _ := shake(t, server.ClientConfig(), node.ServerConfig()); err == nil {
		t.Error("a node is dialled as a server")
	}
	if _, _, err, _ := shake(t, UserConfig(server.Roots()), server.ServerConfig()); err != nil {
		t.Errorf("a user is refused: %v", err)
	}
	if err := node.SetServers([]string{"10.0.0.3:4646"}); err != nil {
		t.Fatal(err)
	}
	m, ok := node.Member()
	if !ok || m.ID != "n1" || m.Role != pki.RoleNode || m.ClusterID != "" || len(m.Servers) != 1 {
		t.Errorf("member %+v, %v", m, ok)
	}
	if public, err := server.SealPublic(); err != nil || len(public) != 32 || len(server.SealKey()) != 32 {
		t.Errorf("seal key: %v", err)
	}
	if until := time.Until(node.Expires()); until < 89*days || node.Warning(time.Now()) != "" {
		t.Errorf("expires in %s, warning %q", until, node.Warning(time.Now()))
	}
}

// presented returns the serial number of the certificate that a listener presents.
func presented(t *testing.T, server Identity) string {
	t.Helper()
	at, _, err1, err2 := shake(t, UnverifiedConfig(), server.ServerConfig())
	if err1 != nil || err2 != nil {
		t.Fatalf("client %v, server %v", err1, err2)
	}
	return at.PeerCertificates[0].SerialNumber.String()
}

// serial returns the serial number of the certificate in a file.
func serial(path string) string {
	return must(pki.ParseChain(must(os.ReadFile(path))))[0].SerialNumber.String()
}

func TestChangedFilesAreReloaded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, dir, m := newCA(), t.TempDir(), member("s1", pki.RoleServer)
		e, log := openExternal(t, c.provide(t, dir, m, 0))
		first := presented(t, e)
		files := c.provide(t, dir, m, 0)
		if got := presented(t, e); got != first {
			t.Error("the files were read twice within a second")
		}
		time.Sleep(checkFiles)
		if got := presented(t, e); got != serial(files.Cert) || got == first {
			t.Error("the new certificate is not used after a second")
		}
		if n := log.count("certificates were reloaded"); n != 1 {
			t.Errorf("%d reloads in the log, want 1", n)
		}
		now := time.Now().Add(time.Hour)
		if err := os.Chtimes(files.Cert, now, now); err != nil { // touched, and unchanged
			t.Fatal(err)
		}
		time.Sleep(checkFiles)
		presented(t, e)
		if n := log.count("certificates were reloaded"); n != 1 {
			t.Error("unchanged certificates were reloaded")
		}

		// A new authority replaces the old one.
		next := newCA()
		files = next.provide(t, dir, m, 0)
		time.Sleep(checkFiles)
		if _, _, err1, err2 := shake(t, UserConfig(must(pki.ParseExternalRoots(next.CertPEM(), "global"))), e.ServerConfig()); err1 != nil || err2 != nil {
			t.Errorf("the certificate of the new authority: client %v, server %v", err1, err2)
		}
		if _, _, err, _ := shake(t, stranger(c, member("n1", pki.RoleNode), nil), e.ServerConfig()); err == nil {
			t.Error("a member of the old authority got through")
		}
	})
}

func TestDamagedFilesKeepTheLastGoodCertificate(t *testing.T) {
	c, foreign, m := newCA(), newCA(), member("s1", pki.RoleServer)
	late := ca{must(pki.NewAuthority(cluster, time.Now().Add(-9999*time.Hour)))}
	for _, k := range []struct {
		what   string
		damage func(t *testing.T, dir string, files Files)
		say    string
	}{
		{"certificate without its key", func(t *testing.T, _ string, f Files) {
			replace(t, f.Cert, c.sign(must(pki.NewRequest(must(pki.NewKey()), "s1")), m, 0))
		}, "private key does not match"},
		{"truncated certificate", func(t *testing.T, _ string, f Files) { replace(t, f.Cert, must(os.ReadFile(f.Cert))[:200]) }, "cert_file"},
		{"truncated key", func(t *testing.T, _ string, f Files) { replace(t, f.Key, must(os.ReadFile(f.Key))[:50]) }, "key_file"},
		{"empty CA", func(t *testing.T, _ string, f Files) { replace(t, f.CA, nil) }, "ca_file"},
		{"foreign CA", func(t *testing.T, _ string, f Files) { replace(t, f.CA, foreign.CertPEM()) }, "no authority in ca_file signed"},
		{"missing key", func(t *testing.T, _ string, f Files) {
			if err := os.Remove(f.Key); err != nil {
				t.Fatal(err)
			}
		}, "no such file"},
		{"other member", func(t *testing.T, dir string, _ Files) { c.provide(t, dir, member("s2", pki.RoleServer), 0) }, `this agent is server "s1"`},
		{"other role", func(t *testing.T, dir string, _ Files) { c.provide(t, dir, member("s1", pki.RoleNode), 0) }, `belongs to node "s1"`},
		{"expired", func(t *testing.T, dir string, _ Files) { late.provide(t, dir, m, 9000*time.Hour) }, "expired at"},
		{"not yet valid", func(t *testing.T, dir string, _ Files) { c.provide(t, dir, m, -5*time.Hour) }, "correct it"},
		{"world-readable key", func(t *testing.T, _ string, f Files) {
			if err := os.Chmod(f.Key, 0o644); err != nil {
				t.Fatal(err)
			}
		}, "chmod o-rwx"},
	} {
		dir := t.TempDir()
		files := c.provide(t, dir, m, 0)
		bubble.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(c.born())) // the bubble's clock begins in the past
			e, log := openExternal(t, files)
			first := presented(t, e)
			k.damage(t, dir, files)
			for range 3 {
				time.Sleep(checkFiles)
				if got := presented(t, e); got != first {
					t.Errorf("%s: the last good certificate is not used", k.what)
				}
			}
			time.Sleep(pollFiles)
			presented(t, e)
			if n := log.count("changed certificates are not used"); n != 1 {
				t.Errorf("%s: %d messages in the log, want one:\n%s", k.what, n, log.text.String())
			}
			wantText(t, e.Warning(time.Now()), "certificate expires in ")
			wantText(t, e.Warning(time.Now()), k.say)
			good := c.provide(t, dir, m, 0)
			time.Sleep(checkFiles)
			if got := presented(t, e); got != serial(good.Cert) || e.Warning(time.Now()) != "" {
				t.Errorf("%s: the repaired files are not used; warning %q", k.what, e.Warning(time.Now()))
			}
		})
	}
}

// born returns the time at which the authority was made.
func (c ca) born() time.Time {
	return must(pki.ParseChain(c.CertPEM()))[0].NotBefore.Add(pki.Backdate)
}

func TestCertificateThatBecomesValidIsUsed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, dir, m := newCA(), t.TempDir(), member("s1", pki.RoleServer)
		e, log := openExternal(t, c.provide(t, dir, m, 0))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); e.Renew(ctx, nil) }() // it looks without handshakes
		files := c.provide(t, dir, m, -2*time.Hour)
		time.Sleep(pollFiles + time.Second)
		if log.count("changed certificates are not used") != 1 {
			t.Error("no handshake, and no message in the log")
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if got := presented(t, e); got != serial(files.Cert) {
			t.Error("the certificate is not used after it became valid")
		}
		cancel()
		<-done
	})
}

func TestReplacedLinksAreNoticed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		// Kubernetes keeps secrets in a directory that a link names, and replaces the link.
		c, base, m := newCA(), t.TempDir(), member("s1", pki.RoleServer)
		link := filepath.Join(base, "current")
		for _, name := range []string{"a", "b"} {
			if err := os.Mkdir(filepath.Join(base, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		c.provide(t, filepath.Join(base, "a"), m, 0)
		second := c.provide(t, filepath.Join(base, "b"), m, 0)
		if err := os.Symlink("a", link); err != nil {
			t.Fatal(err)
		}
		e, _ := openExternal(t, Files{CA: filepath.Join(link, "ca.pem"), Cert: filepath.Join(link, "cert.pem"), Key: filepath.Join(link, "key.pem"), Region: "global"})
		if err := errors.Join(os.Symlink("b", link+".new"), os.Rename(link+".new", link)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(checkFiles)
		if got := presented(t, e); got != serial(second.Cert) {
			t.Error("the certificate behind the replaced link is not used")
		}
	})
}

func TestExternalCertificatesWarnBeforeTheyExpire(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := newCA()
		files := c.provide(t, t.TempDir(), member("s1", pki.RoleServer), 0)
		e, _ := openExternal(t, files)
		time.Sleep(75 * days)
		if w := e.Warning(time.Now()); w != "" {
			t.Errorf("15 days before the end: %s", w)
		}
		time.Sleep(10 * days)
		wantText(t, e.Warning(time.Now()), "certificate expires in 5 days: replace "+files.Cert+" and "+files.Key)
		time.Sleep(7*days + time.Second)
		wantText(t, e.Warning(time.Now()), "certificate expired 2 days ago: replace")
		if _, _, err, _ := shake(t, UserConfig(e.Roots()), e.ServerConfig()); err != nil {
			t.Errorf("an expired certificate ends the handshake: %v", err)
		}
	})
}

func TestOpenExternalRefuses(t *testing.T) {
	c, foreign := newCA(), newCA()
	m := member("s1", pki.RoleServer)
	own := identityDir(t)
	c.join(t, own, member("s9", pki.RoleServer))
	bound := identityDir(t)
	if _, err := OpenExternal(bound, c.provide(t, t.TempDir(), member("s2", pki.RoleServer), 0)); err != nil {
		t.Fatal(err)
	}
	both := identityDir(t)
	c.join(t, both, m)
	for _, k := range []struct {
		what, dir string
		change    func(*testing.T, *Files)
		say       []string
	}{
		{"no ca_file", "", func(_ *testing.T, f *Files) { f.CA = "" }, []string{"ca_file", "set ca_file, cert_file and key_file together"}},
		{"no key_file", "", func(_ *testing.T, f *Files) { f.Key = "" }, []string{"key_file", "together"}},
		{"missing certificate", "", func(_ *testing.T, f *Files) { f.Cert += "x" }, []string{"cert_file", "no such file"}},
		{"directory", "", func(_ *testing.T, f *Files) { f.CA = filepath.Dir(f.CA) }, []string{"ca_file", "no regular file"}},
		{"named pipe", "", func(t *testing.T, f *Files) {
			if err := errors.Join(os.Remove(f.Cert), unix.Mkfifo(f.Cert, 0o600)); err != nil {
				t.Fatal(err)
			}
		}, []string{"cert_file", "no regular file"}},
		{"key of others", "", func(t *testing.T, f *Files) { chmod(t, f.Key, 0o604) }, []string{"key_file", "0604", "chmod o-rwx"}},
		{"CA that all may write", "", func(t *testing.T, f *Files) { chmod(t, f.CA, 0o606) }, []string{"ca_file", "chmod o-rwx"}},
		{"huge CA", "", func(t *testing.T, f *Files) { replace(t, f.CA, make([]byte, maxFileSize+1)) }, []string{"ca_file", "more than 65536"}},
		{"foreign CA", "", func(t *testing.T, f *Files) { replace(t, f.CA, foreign.CertPEM()) }, []string{"cert_file", "no authority in ca_file"}},
		{"other region", "", func(_ *testing.T, f *Files) { f.Region = "us" }, []string{"server.us.reeve"}},
		{"data directory of the own authority", own, nil, []string{`data directory to member "s9"`}},
		{"own authority, same id", both, nil, []string{"own authority", "remove the block tls"}},
		{"data directory of another member", bound, nil, []string{`belongs to "s1"`, `member "s2"`}},
	} {
		files := c.provide(t, t.TempDir(), m, 0)
		if k.change != nil {
			k.change(t, &files)
		}
		if k.dir == "" {
			k.dir = identityDir(t)
		}
		_, err := OpenExternal(k.dir, files)
		wantWords(t, k.what, err, append(k.say, "open certificates of block tls")...)
	}
	files := c.provide(t, t.TempDir(), m, 0)
	chmod(t, files.Key, 0o640) // a group that the operator chose
	if _, err := OpenExternal(identityDir(t), files); err != nil {
		t.Errorf("a key of a group is refused: %v", err)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestExternalMembersOutliveTheirConfigurations(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, dir, m := newCA(), t.TempDir(), member("s1", pki.RoleServer)
		server, _ := openExternal(t, c.provide(t, dir, m, 0))
		nodeDir := t.TempDir()
		node, _ := openExternal(t, c.provide(t, nodeDir, member("n1", pki.RoleNode), 0))
		onServer, onClient := server.ServerConfig("h2"), node.ClientConfig("h2")
		for range 12 {
			time.Sleep(60 * days)
			c.provide(t, dir, m, 0)
			c.provide(t, nodeDir, member("n1", pki.RoleNode), 0)
			time.Sleep(checkFiles)
			_, at, err1, err2 := shake(t, onClient, onServer)
			if id, ok := server.Peer(at); err1 != nil || err2 != nil || !ok || id.Expired {
				t.Fatalf("client %v, server %v, peer %+v %v", err1, err2, id, ok)
			}
		}
	})
}
