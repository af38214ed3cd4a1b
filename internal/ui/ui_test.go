// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	page   = "<!doctype html><title>Reeve</title>"
	script = "console.log(1)\n"
)

// newSite returns a site with a few files.
func newSite() *Site {
	return New(fstest.MapFS{
		"index.html": {Data: []byte(page)}, "assets/app.js": {Data: []byte(script)}, "assets/app.css": {Data: []byte("b{}")},
		"icon.svg": {Data: []byte("<svg/>")}, "LICENSES.txt": {Data: []byte("<html>MIT")}, "assets/blob.bin": {Data: []byte("<html>")},
	})
}

// ask sends a request with the headers given as names and values.
func ask(t *testing.T, h http.Handler, method, target string, header ...string) *http.Response {
	t.Helper()
	u, err := url.ParseRequestURI(target)
	if err != nil {
		t.Fatalf("%q: %v", target, err)
	}
	r := &http.Request{Method: method, URL: u, Host: "127.0.0.1:4646", Header: http.Header{}, Body: http.NoBody}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, resp *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestUIShowsAPageForEveryAddress(t *testing.T) {
	site := newSite()
	for target, want := range map[string]struct {
		status            int
		kind, body, leads string
	}{
		"/ui/":                             {200, "text/html; charset=utf-8", page, ""},
		"/ui/index.html":                   {200, "text/html; charset=utf-8", page, ""},
		"/ui/jobs":                         {200, "text/html; charset=utf-8", page, ""},
		"/ui/job/backup%2Fperiodic-17":     {200, "text/html; charset=utf-8", page, ""},
		"/ui/job/web?namespace=dev":        {200, "text/html; charset=utf-8", page, ""},
		"/ui/oidc/callback?state=x":        {200, "text/html; charset=utf-8", page, ""},
		"/ui/allocation/a.b...c":           {200, "text/html; charset=utf-8", page, ""},
		"/ui/assets/app.js":                {200, "text/javascript; charset=utf-8", script, ""},
		"/ui/assets/app.js?v=1":            {200, "text/javascript; charset=utf-8", script, ""},
		"/ui/assets/app.css":               {200, "text/css; charset=utf-8", "b{}", ""},
		"/ui/icon.svg":                     {200, "image/svg+xml", "<svg/>", ""},
		"/ui/LICENSES.txt":                 {200, "text/plain; charset=utf-8", "<html>MIT", ""},
		"/ui/assets/blob.bin":              {200, "application/octet-stream", "<html>", ""},
		"/ui":                              {302, "", "", "/ui/"},
		"/ui/jobs/web@dev/versions?x=1#y":  {302, "", "", "/ui/job/web/versions?namespace=dev"},
		"/ui/clients/n1?token=secret":      {302, "", "", "/ui/node/n1"},
		"/ui/assets":                       {200, "text/html; charset=utf-8", page, ""}, // no list of files
		"/ui/assets/":                      {404, "text/plain; charset=utf-8", "", ""},
		"/ui/assets/old.js":                {404, "text/plain; charset=utf-8", "", ""},
		"/ui/assets%2fold.js":              {404, "text/plain; charset=utf-8", "", ""},
		"/ui/assets%2Fapp.js":              {404, "text/plain; charset=utf-8", "", ""},
		"/ui/../v1/jobs":                   {400, "text/plain; charset=utf-8", "", ""},
		"/ui/./jobs":                       {400, "text/plain; charset=utf-8", "", ""},
		"/ui/assets/../../go.mod":          {400, "text/plain; charset=utf-8", "", ""},
		"/ui/job/%2e%2e":                   {400, "text/plain; charset=utf-8", "", ""},
		"/ui/%2e%2e/%2e%2e/etc/passwd":     {400, "text/plain; charset=utf-8", "", ""},
		"/ui/..%2f..%2fetc%2fpasswd":       {200, "text/html; charset=utf-8", page, ""}, // a name with slashes: "No such page"
		"/ui/job/..%2F..%2Fv1%2Fjobs":      {200, "text/html; charset=utf-8", page, ""},
		"/ui/..%5c..%5cetc":                {400, "text/plain; charset=utf-8", "", ""},
		"/ui/job/a%00b":                    {400, "text/plain; charset=utf-8", "", ""},
		"/ui/job/a%0d%0aSet-Cookie:%20x":   {400, "text/plain; charset=utf-8", "", ""},
		"/ui/" + strings.Repeat("a", 5000): {400, "text/plain; charset=utf-8", "", ""},
	} {
		resp := ask(t, site, http.MethodGet, target)
		body := bodyOf(t, resp)
		if resp.StatusCode != want.status || resp.Header.Get("Content-Type") != want.kind || resp.Header.Get("Location") != want.leads {
			t.Errorf("GET %.60s: %d %v, want %+v", target, resp.StatusCode, resp.Header, want)
		}
		if want.status == 200 && body != want.body {
			t.Errorf("GET %.60s: %q, want %q", target, body, want.body)
		}
		if want.status >= 400 && (strings.Contains(body, "<") || !strings.HasSuffix(body, ".\n")) {
			t.Errorf("GET %.60s: the error is no sentence: %q", target, body)
		}
	}
}

func TestUIHeadersAreOnEveryAnswer(t *testing.T) {
	site := newSite()
	for _, c := range []struct{ method, target string }{
		{http.MethodGet, "/ui/"}, {http.MethodHead, "/ui/"}, {http.MethodGet, "/ui"}, {http.MethodGet, "/ui/assets/app.js"},
		{http.MethodGet, "/ui/assets/none.js"}, {http.MethodGet, "/ui/../x"}, {http.MethodPost, "/ui/"}, {http.MethodDelete, "/ui/jobs"},
		{http.MethodGet, "/ui/clients/n1"},
	} {
		resp := ask(t, site, c.method, c.target)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; img-src 'self' data:; connect-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types reeve",
			"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s %s: %s is %q, want %q", c.method, c.target, name, got, want)
			}
		}
		if resp.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s %s sets a cookie", c.method, c.target)
		}
	}
	if resp := ask(t, site, http.MethodPost, "/ui/"); resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %v", resp.StatusCode, resp.Header)
	}
}

func TestUIFilesAreCompressedAndCached(t *testing.T) {
	site := newSite()
	tags := map[string]bool{}
	for accept, want := range map[string]string{
		"": "", "gzip": "gzip", "br, GZIP;q=0.5": "gzip", "gzip;q=0": "", "gzip; q=0.0, br": "", "identity": "", "gzip;q=x": "", "x-gzip": "",
	} {
		resp := ask(t, site, http.MethodGet, "/ui/assets/app.js", "Accept-Encoding", accept)
		body := bodyOf(t, resp)
		if resp.Header.Get("Content-Encoding") != want || resp.Header.Get("Vary") != "Accept-Encoding" || resp.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("Accept-Encoding %q: %v", accept, resp.Header)
		}
		if resp.Header.Get("Content-Length") != strconv.Itoa(len(body)) {
			t.Errorf("Accept-Encoding %q: Content-Length is %s of %d", accept, resp.Header.Get("Content-Length"), len(body))
		}
		if want == "gzip" {
			z, err := gzip.NewReader(strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			body = string(plain)
		}
		if body != script {
			t.Errorf("Accept-Encoding %q: %q", accept, body)
		}
		tag := resp.Header.Get("ETag")
		if !strings.HasPrefix(tag, `"`) {
			t.Errorf("Accept-Encoding %q: the ETag %s is not strong", accept, tag)
		}
		tags[tag] = true
		head := ask(t, site, http.MethodHead, "/ui/assets/app.js", "Accept-Encoding", accept)
		if text := bodyOf(t, head); text != "" || head.Header.Get("Content-Length") != resp.Header.Get("Content-Length") || head.Header.Get("ETag") != tag {
			t.Errorf("HEAD with Accept-Encoding %q: %v, %q", accept, head.Header, text)
		}
		for known, status := range map[string]int{tag: 304, "W/" + tag: 304, `"other", ` + tag: 304, "*": 304, `"other"`: 200, strings.Trim(tag, `"`): 200} {
			again := ask(t, site, http.MethodGet, "/ui/assets/app.js", "Accept-Encoding", accept, "If-None-Match", known)
			if again.StatusCode != status || again.Header.Get("ETag") != tag {
				t.Errorf("If-None-Match %s: %d %v, want %d", known, again.StatusCode, again.Header, status)
			}
			if text := bodyOf(t, again); status == 304 && text != "" {
				t.Errorf("If-None-Match %s: 304 with the body %q", known, text)
			}
		}
	}
	if len(tags) != 2 {
		t.Errorf("two encodings have %d ETags", len(tags))
	}
}

func TestUIFilesAreCompressedOnce(t *testing.T) {
	f := newFile("a.js", bytes.Repeat([]byte(script), 100))
	if first, again := f.zipped(), f.zipped(); &first.body[0] != &again.body[0] {
		t.Error("a file is compressed at each request")
	}
}

func TestUIInThisBinary(t *testing.T) {
	resp := ask(t, Embedded(), http.MethodGet, "/ui/")
	if body := bodyOf(t, resp); resp.StatusCode != http.StatusOK || !strings.Contains(strings.ToLower(body), "<!doctype html>") {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
	for name := range Embedded().files {
		resp := ask(t, Embedded(), http.MethodGet, "/ui/"+name)
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") == "application/octet-stream" {
			t.Errorf("%s: %d %s: add its extension to types", name, resp.StatusCode, resp.Header.Get("Content-Type"))
		}
	}
}

func TestUIWithoutFiles(t *testing.T) {
	if resp := ask(t, New(fstest.MapFS{}), http.MethodGet, "/ui/jobs"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("%d", resp.StatusCode)
	}
}

func FuzzUIAddresses(f *testing.F) {
	for _, path := range []string{"/ui/", "/ui/jobs/web@dev", "/ui/..%2f", "/ui/%2e%2e/x", "/ui/assets/app.js", "/ui//evil.example/", "/ui/\\evil"} {
		f.Add(path)
	}
	site := newSite()
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || !Claims(u.Path) {
			return
		}
		w := httptest.NewRecorder()
		site.ServeHTTP(w, &http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}, Body: http.NoBody})
		switch resp := w.Result(); resp.StatusCode {
		case 200, 400, 404:
		case 302:
			if to := resp.Header.Get("Location"); !strings.HasPrefix(to, "/ui/") || strings.ContainsAny(to, "\r\n\\") {
				t.Errorf("%q leads to %q", target, to)
			}
		default:
			t.Errorf("%q: %d", target, resp.StatusCode)
		}
	})
}
