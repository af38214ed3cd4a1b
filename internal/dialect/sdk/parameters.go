// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
)

// environmentName matches the permitted names of parameters.
var environmentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// maxParameters bounds the body of a start, in bytes.
const maxParameters = 64 << 10

func (q *request) parameters() (map[string]string, error) {
	kind, _, err := mime.ParseMediaType(q.r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, failf(http.StatusUnsupportedMediaType, "the parameters are a JSON object, {} for none: send it as Content-Type: application/json")
	}
	values := map[string]any{}
	dec := json.NewDecoder(http.MaxBytesReader(q.w, q.r.Body, maxParameters))
	dec.UseNumber()
	if err := dec.Decode(&values); err != nil {
		return nil, failf(http.StatusBadRequest, "Couldn't parse parameters: %s", notAnObject(err))
	}
	parameters := make(map[string]string, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		text, ok := textOf(values[name])
		if !ok {
			return nil, failf(http.StatusBadRequest, "Couldn't parse parameters: the value of %s is %s: give a string, a number, true or false", name, kindOf(values[name]))
		}
		parameters[name] = text
	}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if !environmentName.MatchString(name) {
			return nil, failf(http.StatusBadRequest, "Couldn't parse parameters: %s is not a valid environment variable name", name)
		}
	}
	return parameters, nil
}

// notAnObject returns the reason why a body is not an object of parameters.
func notAnObject(err error) string {
	const want = `send a JSON object such as {"LABEL": "friday"}, {} for none`
	var (
		syntax *json.SyntaxError
		kind   *json.UnmarshalTypeError
		size   *http.MaxBytesError
	)
	switch {
	case errors.As(err, &size):
		return fmt.Sprintf("the body is larger than the %d bytes that parameters may have", size.Limit)
	case errors.As(err, &syntax):
		return fmt.Sprintf("the body is no JSON from its byte %d on: %s", syntax.Offset, want)
	case errors.As(err, &kind):
		return fmt.Sprintf("the body is a JSON %s: %s", kind.Value, want)
	case errors.Is(err, io.EOF):
		return "the body is empty: " + want
	}
	return "the body ends before its JSON does: " + want
}

// textOf returns the value as text of an environment variable: numbers and booleans
// keep their spelling.
func textOf(value any) (text string, ok bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// kindOf names the kind of a value that an environment variable cannot hold.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case []any:
		return "a list"
	}
	return "an object"
}
