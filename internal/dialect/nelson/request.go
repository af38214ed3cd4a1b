// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nelson

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A request is one request that is being answered.
type request struct {
	core    Core
	version string
	now     func() time.Time
	w       http.ResponseWriter
	r       *http.Request
	query   url.Values
}

// operator is recorded as the operator of a change: sessions have no names.
const operator = "Nelson's API"

// A failure is an answer that refuses a request: text, or JSON if body is set.
type failure struct {
	status int
	text   string
	body   any
}

func (f *failure) Error() string { return f.text }

func failf(status int, format string, args ...any) error {
	return &failure{status: status, text: fmt.Sprintf(format, args...)}
}

// A message is the body of a refusal that clients show.
type message struct {
	Message string `json:"message"`
}

// An invalidBody says which field of a body is invalid.
type invalidBody struct {
	Message       string `json:"message"`
	CursorHistory string `json:"cursor_history"`
}

// invalid refuses a field of a body.
func invalid(field, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	return &failure{status: http.StatusUnprocessableEntity, text: text, body: invalidBody{"Validation failed: " + text, "DownField(" + field + ")"}}
}

// maxBody bounds the body of a request.
const maxBody = 1 << 20

// decode reads the body of a request.
func (q *request) decode(into any) error {
	text, err := io.ReadAll(io.LimitReader(q.r.Body, maxBody+1))
	if err != nil {
		return failf(http.StatusBadRequest, "read the body of the request: %v", err)
	}
	if len(text) > maxBody {
		return failf(http.StatusRequestEntityTooLarge, "the body of the request is larger than %d bytes", maxBody)
	}
	err = json.Unmarshal(text, into)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return invalid(wrong.Field, "%s must be %s", cmp.Or(wrong.Field, "the body"), typeName(wrong.Type))
	case err != nil:
		return &failure{status: http.StatusBadRequest, text: "Could not parse JSON", body: message{"Could not parse JSON"}}
	}
	return nil
}

// typeName returns the name that a type has in JSON.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Int64:
		return "an integer"
	}
	return "an object"
}

// json answers with an indented body.
func (q *request) json(status int, body any) error {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(body); err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	q.write(status, "application/json", text.String())
	return nil
}

func (q *request) text(status int, text string) {
	q.write(status, "text/plain; charset=utf-8", text)
}

func (q *request) write(status int, kind, body string) {
	h := q.w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	q.w.WriteHeader(status)
	io.WriteString(q.w, body)
}

// done answers a change that was carried out.
func done(q *request) error { return q.json(http.StatusOK, struct{}{}) }

// words returns the values of a parameter that lists values separated by commas, and whether the
// parameter is present.
func (q *request) words(name string) (words []string, given bool) {
	for _, text := range q.query[name] {
		for word := range strings.SplitSeq(text, ",") {
			if word = strings.TrimSpace(word); word != "" {
				words = append(words, word)
			}
		}
	}
	return words, len(words) > 0
}

// millis returns a time as Nelson writes it; 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// featureVersion returns a version of a request's body.
func featureVersion(major, minor int64) (api.FeatureVersion, error) {
	v, err := api.ParseFeatureVersion(fmt.Sprintf("%d.%d", major, minor))
	if err != nil {
		return v, invalid("version", "%v", err)
	}
	return v, nil
}
