// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// A reader has each piece as soon as it was written, and all of them are one gzip member.
func TestGzipPiecesArriveOneByOne(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var out, all bytes.Buffer
	z := &gzipPieces{}
	if err := z.write(&out, nil); err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	r.Multistream(false)
	for i := range 400 {
		var piece []byte
		switch size := []int{0, 3, smallPiece - 1, smallPiece, 700, 8 << 10, 8<<10 + 1, 40_000, 100_000}[i%9]; i % 4 {
		case 0: // not compressible
			piece = make([]byte, size)
			for j := range piece {
				piece[j] = byte(random.Uint32())
			}
		default:
			text := fmt.Sprintf(`{"Topic":"Instance","Key":"%d","State":"RUNNING"}`, i)
			piece = []byte(strings.Repeat(text, size/len(text)+1)[:size])
		}
		if err := z.write(&out, piece); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(piece))
		if _, err := io.ReadFull(r, got); err != nil {
			t.Fatalf("piece %d of %d bytes did not arrive: %v", i, len(piece), err)
		}
		if !bytes.Equal(got, piece) {
			t.Fatalf("piece %d of %d bytes arrived changed", i, len(piece))
		}
		all.Write(piece)
	}
	z.release()
	if err := z.end(&out); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("after the end: %d bytes, %v, want a checksum that agrees and EOF", n, err)
	}
}

func TestGzipPiecesReportErrorsOfTheConnection(t *testing.T) {
	broken := writeFunc(func([]byte) (int, error) { return 0, io.ErrClosedPipe })
	for name, write := range map[string]func(*gzipPieces) error{
		"header":     func(z *gzipPieces) error { return z.write(broken, nil) },
		"heartbeat":  func(z *gzipPieces) error { z.began = true; return z.write(broken, []byte("{}\n")) },
		"compressed": func(z *gzipPieces) error { z.began = true; return z.write(broken, make([]byte, 1<<20)) },
		"end":        func(z *gzipPieces) error { return z.end(broken) },
	} {
		if err := write(&gzipPieces{}); err != io.ErrClosedPipe {
			t.Errorf("%s: %v, want the error of the connection", name, err)
		}
	}
}

type writeFunc func([]byte) (int, error)

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }

// The streams of lines and of server-sent events are compressed only for those who ask.
func TestEventStreamIsCompressedOnRequest(t *testing.T) {
	h := newHarness(t)
	h.register("web")
	for _, c := range []struct{ query, accepts, encoding, begins string }{
		{"", "gzip", "gzip", `{"Index":`},
		{"&format=sse", "br, gzip;q=0.8", "gzip", "retry: "},
		{"", "gzip;q=0", "", `{"Index":`},
		{"", "identity", "", `{"Index":`},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.http.URL+"/v1/event/stream?index=0"+c.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", c.accepts)
		resp, err := h.http.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Header.Get("Content-Encoding"); got != c.encoding || resp.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: Content-Encoding is %q, Vary %q, want %q", c.accepts, got, resp.Header.Get("Vary"), c.encoding)
		}
		var body io.Reader = resp.Body
		if c.encoding == "gzip" {
			if body, err = gzip.NewReader(resp.Body); err != nil {
				t.Fatal(err)
			}
		}
		begin := make([]byte, len(c.begins))
		if _, err := io.ReadFull(body, begin); err != nil || string(begin) != c.begins {
			t.Errorf("Accept-Encoding %q: the stream begins with %q (%v), want %q", c.accepts, begin, err, c.begins)
		}
		resp.Body.Close()
	}
}

// BenchmarkGzipPieces compresses events one by one, and reports what a quiet stream keeps.
func BenchmarkGzipPieces(b *testing.B) {
	piece := func(i int) []byte {
		return fmt.Appendf(nil, `{"Index":%d,"Events":[{"Topic":"Instance","Type":"InstanceChanged","Key":"%08x-dea2-4f52-9d95-4c9f3fd12f3c","Namespace":"default",`+
			`"FilterKeys":["shop","web-%d","%08x-0003-43ba-856b-578caaac7eb8"],"Index":%d,"Payload":{"Instance":{"Namespace":"default","JobID":"shop","Name":"web-%d","Group":"web",`+
			`"Index":%d,"State":"RUNNING","Presence":"ordinary","Routable":true,"Paused":false,"Allocation":"%08x-dea2-4f52-9d95-4c9f3fd12f3c","NodeName":"worker-%d","JobVersion":3}}}]}`+"\n",
			i, i*2654435761, i%500, i*40503, i, i%500, i%500, i*2654435761, i%900)
	}
	z, plain, size := &gzipPieces{}, 0, countingWriter(0)
	i := 0
	for b.Loop() {
		i++
		p := piece(i)
		plain += len(p)
		if err := z.write(&size, p); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(plain)/float64(size), "ratio")
	all := make([]*gzipPieces, 5000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	for j := range all {
		all[j] = &gzipPieces{}
		all[j].write(io.Discard, piece(j))
		all[j].write(io.Discard, []byte("{}\n"))
	}
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/float64(len(all)), "idle-B")
	runtime.KeepAlive(all)
}

// A deadlined is a connection that remembers the order of calls.
type deadlined struct {
	http.ResponseWriter
	calls []string
}

func (d *deadlined) SetWriteDeadline(time.Time) error {
	d.calls = append(d.calls, "deadline")
	return nil
}

func (d *deadlined) Write(p []byte) (int, error) {
	d.calls = append(d.calls, "write")
	return d.ResponseWriter.Write(p)
}

func (d *deadlined) FlushError() error {
	d.calls = append(d.calls, "flush")
	return nil
}

// Each piece of a compressed stream has a deadline of its own, and is flushed.
func TestCompressedPiecesHaveDeadlines(t *testing.T) {
	w := &deadlined{ResponseWriter: httptest.NewRecorder()}
	r := httptest.NewRequest(http.MethodGet, "/v1/event/stream", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	s := newStream(&call{Handler: &Handler{}, w: w, r: r, route: &route{}}, lines)
	s.may = true
	for range 3 {
		w.calls = nil
		if err := s.write([]byte(strings.Repeat("event ", 100))); err != nil {
			t.Fatal(err)
		}
		if got := slices.Compact(w.calls); !slices.Equal(got, []string{"deadline", "write", "flush"}) {
			t.Errorf("the calls are %v, want a deadline, a write and a flush", got)
		}
	}
}
