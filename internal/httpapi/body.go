// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
	"github.com/reeve-run/reeve/internal/state/jsondoc"
)

// Largest bodies, in bytes.
const (
	defaultBodyLimit = 1 << 20  // a job and the text it was written as
	nodeBodyLimit    = 32 << 20 // a batch of allocations
	reportsBodyLimit = 40 << 20 // batches of several nodes; see package nodelink
)

// bodies decodes the bodies that clients in Go send, three times as fast as encoding/json.
var bodies = jsondoc.NewStrict()

// readTimeout bounds the time in which a caller must send a body.
const readTimeout = 30 * time.Second

// readBody reads the request's JSON into v, and records unknown keys as warnings.
func (c *call) readBody(v any) error {
	if c.route.BodyLimit == 0 {
		return nil
	}
	control := http.NewResponseController(c.w)
	control.SetReadDeadline(time.Now().Add(readTimeout))
	buf := buffers.Get().(*bytes.Buffer)
	buf.Reset()
	defer func() {
		if buf.Cap() <= keepBuffer {
			buffers.Put(buf)
		}
	}()
	if _, err := buf.ReadFrom(http.MaxBytesReader(c.w, c.r.Body, c.route.BodyLimit)); err != nil {
		return bodyError(err)
	}
	control.SetReadDeadline(time.Time{})
	body := buf.Bytes()
	if len(bytes.TrimSpace(body)) == 0 && c.route.BodyOK {
		return nil
	}
	if c.route.Encoded && c.r.Header.Get("Content-Type") == nodeproto.Media {
		c.encoded = bytes.Clone(body)
		return nil
	}
	var err error
	c.warnings, err = api.DecodeJSONWith(bodies.Fill, body, v)
	if err == nil && c.route.Strict && len(c.warnings) > 0 {
		return unknownKeys(c.warnings, c.route.In)
	}
	return err
}

// unknownKeys returns an error about unknown keys of a body, which lists the known ones.
func unknownKeys(warnings []string, in reflect.Type) error {
	var known []string
	for _, f := range reflect.VisibleFields(in) {
		known = append(known, f.Name)
	}
	e := api.Errorf(api.CodeInvalid, "the request's body has keys that are not known here; known are %s", strings.Join(known, ", "))
	for _, w := range warnings {
		key, _, _ := strings.Cut(w, " ")
		hint := ""
		if i := slices.IndexFunc(known, func(k string) bool { return bareKey(k) == bareKey(key) }); i >= 0 {
			hint = fmt.Sprintf(": did you mean %s?", known[i])
		}
		e.Detail = append(e.Detail, key+" is not a known key"+hint)
	}
	return e
}

// bareKey normalizes the spelling of a key.
func bareKey(k string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(k))
}

func bodyError(err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return api.Errorf(api.CodeTooLarge, "the request's body is larger than %d KB, which is the most that is taken here", large.Limit>>10)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return api.Errorf(api.CodeInvalid, "the request's body ends before the length that its header says")
	}
	return api.Errorf(api.CodeInvalid, "the request's body cannot be read: %v", err)
}
