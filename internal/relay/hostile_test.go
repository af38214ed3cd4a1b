// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// rawSession starts a session, and returns the client's end of its connection and the error with
// which it ends.
func rawSession(t *testing.T, handler http.HandlerFunc) (s *session, conn net.Conn, ended chan error) {
	here, there := net.Pipe()
	s, ended = newSession(handler, slog.New(slog.DiscardHandler), there), make(chan error, 1)
	go func() { ended <- s.run(t.Context()) }()
	go io.Copy(io.Discard, here)
	return s, here, ended
}

func requestFrame(id uint64, change func(*http.Request)) []byte { return requestOf(id, change, "body") }

func requestOf(id uint64, change func(*http.Request), body string) []byte {
	r, _ := http.NewRequest(http.MethodPut, "http://leader/v1/jobs", nil)
	if change != nil {
		change(r)
	}
	return appendFrame(nil, kindRequest, id, func(b []byte) []byte { return appendRequest(b, r, []byte(body)) })
}

// framed returns a frame with any content.
func framed(content string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(content))), content...)
}

func TestAServerRejectsWhatNoClientSends(t *testing.T) {
	many := bytes.Buffer{}
	for i := range uint64(maxInFlight + 1) {
		many.Write(requestFrame(i, nil))
	}
	for what, text := range map[string][]byte{
		"an empty frame":                framed(""),
		"a frame without a number":      framed("\x01"),
		"an endless number":             framed("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
		"a frame that is too large":     binary.BigEndian.AppendUint32(nil, maxRequest+1),
		"an enormous frame":             []byte("\xff\xff\xff\xff"),
		"an unknown kind":               framed("\x63\x01"),
		"an answer":                     framed("\x02\x01\xc8\x01\x00"),
		"a request without content":     framed("\x01\x01"),
		"a text that is too long":       framed("\x01\x01\xff\xff\x03PUT"),
		"a header count that is a lie":  framed("\x01\x01\x03PUT\x02/x\x01h\xff\xff\xff\xff\x0f"),
		"a header that is missing":      framed("\x01\x01\x03PUT\x02/x\x01h\x02\x01a\x01b"),
		"a target that is none":         framed("\x01\x01\x03PUT\x03a b\x01h\x00"),
		"a read":                        requestFrame(1, func(r *http.Request) { r.Method = http.MethodGet }),
		"a body that is too large":      framed("\x01\x01\x03PUT\x02/x\x01h\x00" + strings.Repeat("x", MaxBody+1)),
		"the number of another request": append(requestFrame(1, nil), requestFrame(1, nil)...),
		"too many requests at a time":   many.Bytes(),
	} {
		bubble.Test(t, func(t *testing.T) {
			_, conn, ended := rawSession(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
			defer conn.Close()
			conn.SetWriteDeadline(time.Now().Add(time.Minute))
			conn.Write(text)
			if err := <-ended; !errors.Is(err, errProtocol) {
				t.Errorf("%s: the session ended with %v, want a violation of the protocol", what, err)
			}
		})
	}
}

func TestAClientRejectsWhatNoServerSends(t *testing.T) {
	for what, text := range map[string][]byte{
		"an enormous frame":        []byte("\xff\xff\xff\xff"),
		"a request":                requestFrame(1, nil),
		"an answer with no status": framed("\x02\x01"),
		"an answer with status 7":  framed("\x02\x01\x07\x00"),
		"a damaged header":         framed("\x02\x01\xc8\x01\x01\x09a"),
	} {
		bubble.Test(t, func(t *testing.T) {
			here, there := net.Pipe()
			l := newLink(here)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				l.run()
			}()
			go io.Copy(io.Discard, there)
			r, _ := http.NewRequest(http.MethodPut, "http://leader/v1/jobs", nil)
			done := make(chan error)
			go func() {
				_, sent, err := l.roundTrip(r, nil)
				if !sent {
					t.Errorf("%s: the request counts as unsent", what)
				}
				done <- err
			}()
			synctest.Wait()
			there.SetWriteDeadline(time.Now().Add(time.Minute))
			there.Write(text)
			if err := <-done; !errors.Is(err, errProtocol) {
				t.Errorf("%s: got %v, want a violation of the protocol", what, err)
			}
			<-ended
			there.Close()
		})
	}
}

// TestAClientThatReadsNothingIsDisconnected sends requests and takes no answer.
func TestAClientThatReadsNothingIsDisconnected(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		ended := make(chan error, 1)
		s := newSession(http.HandlerFunc(echo), slog.New(slog.DiscardHandler), there)
		go func() { ended <- s.run(t.Context()) }()
		began := time.Now()
		body := strings.Repeat("x", MaxBody)
		for i := uint64(1); ; i++ {
			if _, err := here.Write(requestOf(i, nil, body)); err != nil {
				break
			}
		}
		if err := <-ended; err == nil || time.Since(began) > 2*writeTimeout {
			t.Errorf("the session ended with %v after %s", err, time.Since(began))
		}
	})
}

func TestIdleWorkersEnd(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		s, conn, ended := rawSession(t, func(http.ResponseWriter, *http.Request) { <-gate })
		for i := range uint64(100) {
			conn.Write(requestFrame(i, nil))
		}
		synctest.Wait()
		close(gate)
		synctest.Wait()
		idle := func() int {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.idle
		}
		if n := idle(); n != 100 {
			t.Errorf("%d workers are idle after 100 requests at a time", n)
		}
		time.Sleep(8 * retireInterval)
		synctest.Wait()
		if n := idle(); n > 0 {
			t.Errorf("%d workers are idle long after", n)
		}
		conn.Close()
		<-ended
	})
}

// FuzzFrames parses any bytes as what either side may send.
func FuzzFrames(f *testing.F) {
	f.Add(requestFrame(1, func(r *http.Request) { r.Header.Set("a", "b") }))
	f.Add(appendFrame(nil, kindAnswer, 7, func(b []byte) []byte { return appendAnswer(b, 200, http.Header{"A": {"b", "c"}}, []byte("body")) }))
	f.Add(framed("\x01\x01\x03PUT\x02/x\x01h\xff\xff\xff\xff\x0f"))
	s := &session{conn: nowhere{}}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, content, err := readFrame(bufio.NewReader(bytes.NewReader(b)), maxRequest)
		if err != nil {
			return
		}
		if r, err := s.parseRequest(content); err == nil {
			body, _ := io.ReadAll(r.Body)
			again := appendRequest(nil, r, body)
			if r2, err := s.parseRequest(again); err != nil || r2.Method != r.Method || r2.URL.RequestURI() != r.URL.RequestURI() || len(r2.Header) != len(r.Header) {
				t.Errorf("%q is parsed as %+v, encoded as %q, and parsed as %+v, %v", content, r, again, r2, err)
			}
		}
		if resp, err := parseAnswer(content); err == nil && (resp.StatusCode < 200 || resp.StatusCode > 999) {
			t.Errorf("%q is an answer with the status %d", content, resp.StatusCode)
		}
	})
}

// nowhere is a connection without a peer.
type nowhere struct{ net.Conn }

func (nowhere) RemoteAddr() net.Addr { return &net.TCPAddr{} }
