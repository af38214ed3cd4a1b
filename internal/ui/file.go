// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// types are the media types of files, by extension. Browsers must not guess them.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".txt": "text/plain; charset=utf-8",
	".json": "application/json",
}

// A file is one file of the site, in both of its encodings.
type file struct {
	kind   string
	plain  encoding
	zipped func() encoding // compresses the file at the first call
}

// An encoding is the body of a file as it is sent, with its ETag.
type encoding struct {
	body []byte
	tag  string
}

func newFile(name string, body []byte) *file {
	kind := types[path.Ext(name)]
	if kind == "" {
		kind = "application/octet-stream"
	}
	sum := sha256.Sum256(body)
	digest := hex.EncodeToString(sum[:16])
	return &file{
		kind:   kind,
		plain:  encoding{body, `"` + digest + `"`},
		zipped: sync.OnceValue(func() encoding { return encoding{compress(body), `"` + digest + `-gzip"`} }),
	}
}

// compress returns a text in the format of gzip.
func compress(body []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // only a wrong level fails
	z.Write(body)
	z.Close()
	return b.Bytes()
}

// serve answers with the file, or says that the browser's copy is current.
func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	e := f.plain
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		e = f.zipped()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", e.tag)
	if matches(r.Header.Get("If-None-Match"), e.tag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.kind)
	h.Set("Content-Length", strconv.Itoa(len(e.body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		w.Write(e.body)
	}
}

// acceptsGzip reports whether a value of Accept-Encoding permits gzip.
func acceptsGzip(value string) bool {
	for part := range strings.SplitSeq(value, ",") {
		name, params, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		quality, given := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(params, " ", "")), "q=")
		if !given {
			return params == ""
		}
		q, err := strconv.ParseFloat(quality, 64)
		return err == nil && q > 0
	}
	return false
}

// matches reports whether a value of If-None-Match contains a tag.
func matches(value, tag string) bool {
	for part := range strings.SplitSeq(value, ",") {
		part = strings.TrimSpace(part)
		if part == "*" || strings.TrimPrefix(part, "W/") == tag {
			return true
		}
	}
	return false
}
