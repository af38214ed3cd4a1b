// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/beneath"
	"github.com/reeve-run/reeve/internal/node/landlock"
)

func TestHostileTarsAreRefused(t *testing.T) {
	link := func(name, to string) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: to}
	}
	hard := func(name, to string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeLink, Linkname: to} }
	f := newFetcher(t, Config{Limits: Limits{Unpacked: 1 << 20, Files: 20}})
	outside := filepath.Join(t.TempDir(), "outside")
	for name, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"dots":                {tarOf(t, file("../x", "x")), "leads out"},
		"dots within":         {tarOf(t, file("a/../../x", "x")), "leads out"},
		"absolute link":       {tarOf(t, link("x", outside)), "not in it"},
		"link out":            {tarOf(t, link("a/x", "../../x")), "not in it"},
		"chain of links":      {tarOf(t, link("a", "b"), link("b", "c/.."), tar.Header{Name: "c/d/", Typeflag: tar.TypeDir}, link("e", "a/../.."), file("e/x", "x")), "not in it"},
		"hard link out":       {tarOf(t, hard("x", "../../../etc/passwd")), "leads out"},
		"hard link missing":   {tarOf(t, hard("x", "/etc/passwd")), "not an earlier file"},
		"hard link to link":   {tarOf(t, file("f", "x"), link("l", "f"), hard("x", "l")), "not an earlier file"},
		"file over directory": {tarOf(t, tar.Header{Name: "d/", Typeflag: tar.TypeDir}, file("d", "x")), "also something else"},
		"large":               {tarOf(t, file("x", strings.Repeat("x", 2<<20))), "more than 1048576 bytes"},
		"repeated":            {tarOf(t, file("x", strings.Repeat("x", 600<<10)), file("x", strings.Repeat("x", 600<<10))), "more than 1048576 bytes"},
		"hard links":          {tarOf(t, file("x", strings.Repeat("x", 600<<10)), hard("y", "x")), "more than 1048576 bytes"},
		"deep":                {tarOf(t, file(strings.Repeat("d/", 30)+"x", "x"), file("y", "y")), "more than 20 files"},
		"truncated":           {tarOf(t, file("x", strings.Repeat("x", 4000)))[:2000], "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string][]byte{"/x.tgz": gz(t, c.archive)})
			_, err := place(t, f, &api.Artifact{Source: s.URL + "/x.tgz"})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestManyFilesAndDevicesInATar(t *testing.T) {
	f := newFetcher(t, Config{Limits: Limits{Files: 10}})
	var many []tar.Header
	for i := range 30 {
		many = append(many, file(strings.Repeat("f", i+1), ""))
	}
	s := serve(t, map[string][]byte{
		"/many.tar":    tarOf(t, many...),
		"/devices.tar": tarOf(t, tar.Header{Name: "sda", Typeflag: tar.TypeBlock, Devmajor: 8}, tar.Header{Name: "pipe", Typeflag: tar.TypeFifo}, tar.Header{Name: "suid", Mode: 0o6755}),
	})
	if _, err := place(t, f, &api.Artifact{Source: s.URL + "/many.tar"}); err == nil || !strings.Contains(err.Error(), "more than 10 files") {
		t.Errorf("many files: %v", err)
	}
	dir, err := place(t, f, &api.Artifact{Source: s.URL + "/devices.tar"})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("the directory has %v, %v, want the file alone", entries, err)
	}
	if info, err := entries[0].Info(); err != nil || info.Mode() != 0o755 {
		t.Errorf("a set-user-id file has mode %v, %v", info.Mode(), err)
	}
}

func TestHostileZipsAreRefused(t *testing.T) {
	zipOf := func(name string, mode os.FileMode, body []byte) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(mode)
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		f.Write(body)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	f := newFetcher(t, Config{Limits: Limits{Unpacked: 1 << 20}})
	for name, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"dots": {zipOf("../x", 0o644, nil), "leads out"},
		"link": {zipOf("x", os.ModeSymlink|0o777, []byte("/etc/passwd")), "not in it"},
		"bomb": {zipOf("x", 0o644, make([]byte, 8<<20)), "more than 1048576 bytes"},
	} {
		s := serve(t, map[string][]byte{"/x.zip": c.archive})
		if _, err := place(t, f, &api.Artifact{Source: s.URL + "/x.zip"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, c.want)
		}
	}
}

func TestSubdirectoryLimitsWhatIsUsed(t *testing.T) {
	archive := tarOf(t, file("app-1.2/bin/app", "app"), file("app-1.2/secret", "s"), file("other", "o"))
	s := serve(t, map[string][]byte{"/x.tar": archive, "/link.tar": tarOf(t, file("secret", "s"), tar.Header{Name: "sub/x", Typeflag: tar.TypeSymlink, Linkname: "../secret"}),
		"/dir.tar": tarOf(t, tar.Header{Name: "sub", Typeflag: tar.TypeSymlink, Linkname: "/etc"})})
	f := newFetcher(t, Config{})
	dir, err := place(t, f, &api.Artifact{Source: s.URL + "/x.tar//app-1.2/bin"})
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, dir, "app"); got != "app" {
		t.Errorf("app contains %q", got)
	}
	for source, want := range map[string]string{"/x.tar//none": "no directory none", "/link.tar//sub": "not in it", "/dir.tar//sub": "not in it"} {
		if _, err := place(t, f, &api.Artifact{Source: s.URL + source}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want one with %q", source, err, want)
		}
	}
}

// TestRedirects lets a server redirect to what it must not reach. The server is not on the
// loopback interface, because redirects of a local source may lead to local addresses.
func TestRedirects(t *testing.T) {
	var to string
	redirecting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }))
	defer redirecting.Close()
	f := newFetcher(t, Config{})
	for _, c := range []struct{ to, want string }{
		{"file:///etc/passwd", "scheme \"file\""},
		{"ftp://127.0.0.1/x", "scheme \"ftp\""},
		{"http://169.254.169.254/latest/meta-data/", "redirects to 169.254.169.254, which is a service of the node"},
		{"http://[fe80::1]/x", "redirects to fe80::1"},
		{redirecting.URL, "redirected 10 times"},
		{"http://user@127.0.0.1/x", "a URL with a user"},
	} {
		to = c.to
		if _, err := place(t, f, &api.Artifact{Source: redirecting.URL + "/x"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("redirect to %s: the error is %v, want one with %q", c.to, err, c.want)
		}
	}
}

func TestRedirectDoesNotReachTheMachine(t *testing.T) {
	g := &guard{reached: map[reach]bool{}}
	if err := g.control("tcp", "93.184.216.34:443", nil); err != nil {
		t.Fatal(err)
	}
	g.redirected = true
	for _, address := range []string{"127.0.0.1:80", "[::1]:80", "[::ffff:127.0.0.1]:80", "0.0.0.0:80", "169.254.169.254:80", "[fe80::1%eth0]:80", "[fd00:ec2::254]:80"} {
		if g.control("tcp", address, nil) == nil {
			t.Errorf("a redirect reaches %s", address)
		}
	}
	if err := g.control("tcp", "10.1.2.3:80", nil); err != nil {
		t.Errorf("a redirect does not reach a private network: %v", err)
	}
}

func TestRedirectToAnotherHostLosesHeaders(t *testing.T) {
	seen := make(chan http.Header, 2)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { seen <- r.Header }))
	defer other.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header
		http.Redirect(w, r, other.URL, http.StatusFound)
	}))
	defer first.Close()
	a := &api.Artifact{Source: first.URL + "/x", Headers: map[string]string{"X-Token": "s", "Authorization": "s"}}
	if _, err := place(t, newFetcher(t, Config{}), a); err != nil {
		t.Fatal(err)
	}
	if h := <-seen; h.Get("X-Token") != "s" || h.Get("Authorization") != "s" {
		t.Errorf("the source got the headers %v", h)
	}
	if h := <-seen; h.Get("X-Token") != "" || h.Get("Authorization") != "" {
		t.Errorf("another host got the headers %v", h)
	}
}

func TestStalledServerEndsTheFetch(t *testing.T) {
	stalled := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		w.Write([]byte("x"))
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-stalled:
		}
	}))
	defer s.Close()
	defer close(stalled)
	_, err := place(t, newFetcher(t, Config{Limits: Limits{Stall: 200 * time.Millisecond}}), &api.Artifact{Source: s.URL + "/x"})
	if err == nil || !strings.Contains(err.Error(), "sent no byte") {
		t.Errorf("the error is %v", err)
	}
}

func TestEndlessFileIsRefused(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for b := make([]byte, 64<<10); ; {
			if _, err := w.Write(b); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	_, err := place(t, newFetcher(t, Config{Limits: Limits{Download: 1 << 20}}), &api.Artifact{Source: s.URL + "/x"})
	if err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("the error is %v", err)
	}
}

// TestTaskCannotMisleadTheCopy puts links where the copy is about to write.
func TestTaskCannotMisleadTheCopy(t *testing.T) {
	s := serve(t, map[string][]byte{"/x.tar": tarOf(t, file("a/b", "new"), file("c", "new"))})
	f := newFetcher(t, Config{})
	outside, dir := t.TempDir(), t.TempDir()
	kept := filepath.Join(outside, "c")
	if err := os.WriteFile(kept, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"c": kept, "a": outside} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	in, err := beneath.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := f.Place(t.Context(), &api.Artifact{Source: s.URL + "/x.tar"}, Target{Dir: in}); err == nil {
		t.Error("the copy followed a link to a directory")
	}
	os.Remove(filepath.Join(dir, "a"))
	if err := f.Place(t.Context(), &api.Artifact{Source: s.URL + "/x.tar"}, Target{Dir: in}); err != nil {
		t.Fatal(err)
	}
	if got := content(t, dir, "c"); got != "new" {
		t.Errorf("the artifact's file contains %q", got)
	}
	if got := content(t, outside, "c"); got != "kept" {
		t.Errorf("the copy followed a link: the file outside contains %q", got)
	}
	if _, err := os.Stat(filepath.Join(outside, "b")); err == nil {
		t.Error("the copy made a file outside")
	}
}

// TestFetchingProcessIsConfined runs the confinement on a probe instead of the fetch.
func TestFetchingProcessIsConfined(t *testing.T) {
	if landlock.Version() == 0 && os.Geteuid() != 0 {
		t.Log("this machine has neither root nor Landlock: nothing confines the process")
		return
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hunter2"), 0o644); err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.Chmod(filepath.Dir(work), 0o755); err != nil {
		t.Fatal(err)
	}
	s := &shim{root: t.TempDir()}
	if err := os.Chmod(work, 0o700); err != nil {
		t.Fatal(err)
	}
	// A git repository at a path of the host is what the process would read if it could.
	got, err := s.run(t.Context(), work, &Request{Source: &api.ArtifactSource{Scheme: "probe", URL: secret}, Limits: DefaultLimits})
	if err == nil || got == nil || !strings.Contains(err.Error(), "cannot read") {
		t.Errorf("the process read a file of the host: %v", err)
	}
	// Without the isolation the same probe reads the file.
	if _, err := (&shim{open: true}).run(t.Context(), t.TempDir(), &Request{Source: &api.ArtifactSource{Scheme: "probe", URL: secret}, Limits: DefaultLimits}); err == nil || !strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the probe cannot fail: %v", err)
	}
	if os.Geteuid() == 0 {
		var st unix.Stat_t
		if err := unix.Stat(work, &st); err != nil || st.Uid < firstUser {
			t.Errorf("the process runs as user %d, %v", st.Uid, err)
		}
	}
}
