// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/internal/state"
)

// gzipFrom is the minimum size of compressed answers, in bytes.
const gzipFrom = 4 << 10

// writeTimeout bounds the time in which a client must receive an answer, or one part of a
// stream.
const writeTimeout = time.Minute

// answerRead answers with the result of look. A blocking query waits until the index of
// the result exceeds that of the caller, or until its wait ends. Waiting costs nothing
// until one of the route's tables changes. After a wait, this server confirms that its state is
// current: it may have been cut off meanwhile.
func (c *call) answerRead(look func(*state.Snapshot) (any, uint64, error)) error {
	store := c.Server.Store()
	blocks := c.index > 0 && len(c.route.Tables) > 0
	ctx, until := c.r.Context(), time.Time{}
	if blocks {
		var cancel context.CancelFunc
		until = time.Now().Add(c.wait)
		ctx, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
	for waited := false; ; {
		v := store.Snapshot()
		answer, index, err := look(v)
		if err != nil && index == 0 {
			return err
		}
		index = max(index, 1) // 0 would make a client's next query answer at once
		if blocks && index <= c.index && ctx.Err() == nil {
			_, _ = store.WaitChange(ctx, v.TableIndex(c.route.Tables...), c.route.Tables...)
			if c.r.Context().Err() != nil {
				return c.r.Context().Err()
			}
			if err := c.authorize(); err != nil {
				return err // the caller lost its rights meanwhile
			}
			waited = true
			continue
		}
		if waited && c.isCurrentRead() {
			if forwarded, err := c.confirmAgain(until); forwarded || err != nil {
				return err
			}
			waited = false
			if now := store.Snapshot(); now.TableIndex(c.route.Tables...) != v.TableIndex(c.route.Tables...) {
				continue // the answer is no longer current
			}
		}
		c.setIndex(index)
		if err != nil {
			return err
		}
		return c.writeJSON(http.StatusOK, answer)
	}
}

// answerWrite answers with the result of a verb.
func (c *call) answerWrite(answer any, index uint64) error {
	if index == 0 && c.Server != nil {
		index = c.Server.Store().Index()
	}
	c.setIndex(index)
	if len(c.warnings) > 0 {
		c.w.Header().Set("X-Reeve-Warnings", strings.Join(c.warnings, "; "))
	}
	return c.writeJSON(http.StatusOK, answer)
}

func (c *call) setIndex(index uint64) {
	h := c.w.Header()
	s := strconv.FormatUint(index, 10)
	h["X-Nomad-Index"] = []string{s}
	h["X-Reeve-Index"] = []string{s}
	h["X-Nomad-Lastcontact"] = []string{strconv.FormatInt(c.age().Milliseconds(), 10)}
	h["X-Nomad-Knownleader"] = []string{strconv.FormatBool(c.Server == nil || c.Server.Leader() != "")}
	if c.nextToken != "" {
		h["X-Nomad-Nexttoken"] = []string{c.nextToken}
	}
}

// age returns the time since this server last heard of a leader if the answer may be that old.
func (c *call) age() time.Duration {
	if c.Server == nil || c.Leader == nil || !c.isStaleRead() {
		return 0
	}
	return c.lastContact()
}

// buffers are reused: an answer is encoded whole before its first byte is
// sent, so that an error can still be answered as one.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// compressors are reused: a new one allocates a megabyte.
var compressors = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // only a wrong level fails
	return z
}}

// keepBuffer is the largest pooled buffer, in bytes.
const keepBuffer = 1 << 20

func (c *call) writeJSON(status int, answer any) error {
	buf := buffers.Get().(*bytes.Buffer)
	buf.Reset()
	defer func() {
		if buf.Cap() <= keepBuffer {
			buffers.Put(buf)
		}
	}()
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if pretty, _ := c.flag("pretty"); pretty {
		enc.SetIndent("", "    ")
	}
	if err := enc.Encode(answer); err != nil {
		return err
	}
	c.w.Header()["Content-Type"] = []string{"application/json"}
	c.writeBody(status, buf.Bytes())
	return nil
}

// writeBody sends an answer, compressed if it is large and the caller accepts that. A
// caller that does not receive it in time loses the connection.
func (c *call) writeBody(status int, body []byte) {
	h := c.w.Header()
	// The server sends the last part after this returns, so the deadline stays; the
	// connection's next request removes it.
	http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(writeTimeout))
	if len(body) >= gzipFrom {
		h["Vary"] = []string{"Accept-Encoding"}
		if acceptsGzip(c.r) {
			h["Content-Encoding"] = []string{"gzip"}
			c.w.WriteHeader(status)
			z := compressors.Get().(*gzip.Writer)
			z.Reset(c.w)
			z.Write(body)
			z.Close()
			compressors.Put(z)
			return
		}
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	c.w.WriteHeader(status)
	c.w.Write(body)
}

func acceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(name, "gzip") {
			return !strings.Contains(strings.ReplaceAll(params, " ", ""), "q=0") || strings.Contains(params, "0.")
		}
	}
	return false
}
