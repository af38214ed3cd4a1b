// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package ui serves the files of the web UI, which are embedded in the binary. The files contain nothing of
// a cluster, so that everyone may read them: a page gets its data from the HTTP API, like every other
// client. The package knows neither tokens nor objects.
package ui

import (
	"embed"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/reeve-run/reeve/internal/uilink"
)

//go:embed all:dist
var embedded embed.FS

// Embedded returns the site of the files in this binary.
var Embedded = sync.OnceValue(func() *Site {
	dist, err := fs.Sub(embedded, "dist")
	if err != nil {
		panic(err) // the directory is embedded
	}
	return New(dist)
})

// index is the page that shows all addresses which are no file.
const index = "index.html"

// assets begins the names of files that index loads. Such a file is never replaced by a page: a browser
// would run the page as a script.
const assets = "assets/"

// maxPath is the maximum length of an address, in bytes. Ids of objects are shorter.
const maxPath = 4 << 10

// A Site serves the files of the web UI below uilink.Root. Make one with New.
type Site struct {
	files map[string]*file // by name
}

// New returns a site of files. It panics if they cannot be read: they are in memory.
func New(dist fs.FS) *Site {
	s := &Site{files: map[string]*file{}}
	err := fs.WalkDir(dist, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(dist, name)
		s.files[name] = newFile(name, body)
		return err
	})
	if err != nil {
		panic(err)
	}
	return s
}

// Claims reports whether a path belongs to the web UI.
func Claims(path string) bool {
	return path+"/" == uilink.Root || strings.HasPrefix(path, uilink.Root)
}

// ServeHTTP implements http.Handler, for paths that Claims accepts.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	SetHeaders(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "The web UI is for GET and HEAD.")
		return
	}
	if !isPlain(r.URL) {
		refuse(w, http.StatusBadRequest, "This is not an address of the web UI, which begins at "+uilink.Root+".")
		return
	}
	name, below := strings.CutPrefix(r.URL.EscapedPath(), uilink.Root)
	if !below {
		redirect(w, uilink.Root)
		return
	}
	if f := s.files[name]; f != nil {
		f.serve(w, r)
		return
	}
	if to, ok := uilink.FromNomad(r.URL); ok {
		redirect(w, to)
		return
	}
	page := s.files[index]
	if page == nil || strings.HasPrefix(strings.TrimPrefix(r.URL.Path, uilink.Root), assets) {
		refuse(w, http.StatusNotFound, "The web UI of this agent has no such file: reload the page.")
		return
	}
	page.serve(w, r)
}

// isPlain reports whether a browser would ask for an address as it is. A browser removes segments of dots,
// but keeps those inside a name whose slashes are escaped. No id has bytes that are not printable.
func isPlain(u *url.URL) bool {
	if len(u.EscapedPath()) > maxPath || strings.ContainsFunc(u.Path, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }) {
		return false
	}
	for segment := range strings.SplitSeq(u.EscapedPath(), "/") {
		if name, err := url.PathUnescape(segment); err != nil || name == "." || name == ".." {
			return false
		}
	}
	return true
}

// redirect sends the browser to a page.
func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusFound)
}

// refuse answers with a sentence.
func refuse(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write([]byte(text + "\n"))
}
