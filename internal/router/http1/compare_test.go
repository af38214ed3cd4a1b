// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// A reading is what a parser understands of the first message of a connection.
type reading struct {
	Start  string // method, target and host, or the status
	Close  bool
	Length int64 // -1 for a chunked body, or one that ends with the connection
	Fields map[string][]string
	Body   string
	Rest   int // bytes after the message
}

var errIncomplete = errors.New("the message is incomplete")

// readRequest reads a request with this package.
func readRequest(text []byte) (*reading, error) {
	end := EndOfHead(text, 0)
	if end == 0 {
		return nil, errIncomplete
	}
	var q Request
	if err := q.Parse(text[:end]); err != nil {
		return nil, err
	}
	r := &reading{Start: fmt.Sprintf("%s %s %s", q.Method, q.Target, q.Host), Close: q.Close, Length: max(q.Length, 0), Fields: fieldsOf(&q.Head)}
	if q.Chunked {
		r.Length = -1
	}
	body := q.Body()
	return r, r.finish(&body, text[end:], q.Chunked)
}

// readResponse reads a response to a method with this package.
func readResponse(text []byte, method string) (*reading, error) {
	end := EndOfHead(text, 0)
	if end == 0 {
		return nil, errIncomplete
	}
	var a Response
	if err := a.Parse(text[:end]); err != nil {
		return nil, err
	}
	r := &reading{Start: fmt.Sprint(a.Status), Close: a.Close, Length: a.Length, Fields: fieldsOf(&a.Head)}
	body := a.Body([]byte(method))
	if r.Close = r.Close || body.framing == framedByClose; a.Chunked {
		r.Length = -1
	}
	r.forResponse(method, a.Status, a.Chunked && a.Length >= 0)
	return r, r.finish(&body, text[end:], body.framing == framedByChunks)
}

func fieldsOf(h *Head) map[string][]string {
	fields := map[string][]string{}
	for _, f := range h.Fields {
		switch f.Kind {
		case Host, ContentLength, TransferEncoding:
			continue
		}
		name := textproto.CanonicalMIMEHeaderKey(string(f.Name))
		fields[name] = append(fields[name], string(f.Value))
	}
	return fields
}

// finish reads the body, and decodes its chunks.
func (r *reading) finish(b *Body, text []byte, chunked bool) error {
	var data []byte
	n := 0
	for ; n < len(text) && !b.Done(); n++ {
		isData := !chunked || b.chunks.state == chunkData
		if _, err := b.Advance(text[n : n+1]); err != nil {
			return err
		}
		if isData {
			data = append(data, text[n])
		}
	}
	if !b.Done() && !b.EndsWithConnection() {
		return errIncomplete
	}
	r.Body, r.Rest = string(data), len(text)-n
	return nil
}

// readRequestByNetHTTP reads a request with net/http.
func readRequestByNetHTTP(text []byte) (*reading, error) {
	in := bytes.NewReader(text)
	buffered := bufio.NewReader(in)
	q, err := http.ReadRequest(buffered)
	if err != nil {
		return nil, err
	}
	target := q.RequestURI
	if i := len("http://"); len(target) >= i && strings.EqualFold(target[:i], "http://") {
		if target = target[i:]; strings.Contains(target, "/") {
			target = target[strings.Index(target, "/"):]
		} else {
			target = "/"
		}
	}
	r := &reading{Start: q.Method + " " + target + " " + q.Host, Close: q.Close, Length: q.ContentLength}
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	r.Fields = fieldsByNetHTTP(q.Header)
	r.Body, r.Rest = string(body), buffered.Buffered()+in.Len()
	return r, nil
}

// readResponseByNetHTTP reads a response to a method with net/http.
func readResponseByNetHTTP(text []byte, method string) (*reading, error) {
	in := bytes.NewReader(text)
	buffered := bufio.NewReader(in)
	a, err := http.ReadResponse(buffered, &http.Request{Method: method})
	if err != nil {
		return nil, err
	}
	r := &reading{Start: fmt.Sprint(a.StatusCode), Close: a.Close, Length: a.ContentLength}
	body, err := io.ReadAll(a.Body)
	if err != nil {
		return nil, err
	}
	r.Fields = fieldsByNetHTTP(a.Header)
	r.forResponse(method, a.StatusCode, len(a.TransferEncoding) > 0 && declaresLength(text))
	r.Body, r.Rest = string(body), buffered.Buffered()+in.Len()
	return r, nil
}

// forResponse removes what the two parsers report differently by design. The
// length of a response without a body is that of the response to GET. This package
// closes the connection after a response with both framings. net/http removes
// Connection: close.
func (r *reading) forResponse(method string, status int, bothFramings bool) {
	if method == http.MethodHead || status < 200 || status == http.StatusNoContent || status == http.StatusNotModified {
		r.Length = 0
	}
	r.Close = r.Close || bothFramings
	delete(r.Fields, "Connection")
	delete(r.Fields, "Host")
}

// declaresLength reports whether a head has the field Content-Length, which
// net/http removes from a message with chunks.
func declaresLength(text []byte) bool {
	head := text[:EndOfHead(text, 0)]
	return bytes.Contains(bytes.ToLower(head), []byte("\ncontent-length:"))
}

// fieldsByNetHTTP returns the fields that net/http leaves in a head.
func fieldsByNetHTTP(h http.Header) map[string][]string {
	fields := map[string][]string{}
	for name, values := range h {
		if name != "Content-Length" && name != "Transfer-Encoding" {
			fields[name] = values
		}
	}
	return fields
}

// difference compares two readings of the same bytes. net/http moves Trailer out
// of the head, and derives Cache-Control from Pragma.
func difference(ours, theirs *reading) string {
	for _, r := range []*reading{ours, theirs} {
		delete(r.Fields, "Trailer")
		if p := r.Fields["Pragma"]; len(p) > 0 && p[0] == "no-cache" {
			delete(r.Fields, "Cache-Control")
		}
	}
	return cmp.Diff(ours, theirs)
}
