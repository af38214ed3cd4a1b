// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

func base64Encode(s string) string    { return base64.StdEncoding.EncodeToString([]byte(s)) }
func base64URLEncode(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) }

func base64Decode(s string) (string, error) {
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return "", errors.New("the text is not base64")
	}
	return string(data), nil
}

func base64URLDecode(s string) (string, error) {
	data, err := base64.URLEncoding.DecodeString(s)
	if err != nil {
		return "", errors.New("the text is not base64 for URLs")
	}
	return string(data), nil
}

func sha256Hex(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func md5sum(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

func hmacSHA256Hex(message, key string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(message))
	return hex.EncodeToString(h.Sum(nil))
}

func encodeJSON(v any, indent string, escape bool) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escape)
	e.SetIndent("", indent)
	if e.Encode(v) != nil {
		return "", errors.New("the value cannot be written as JSON")
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func toJSON(v any) (string, error)          { return encodeJSON(v, "", true) }
func toUnescapedJSON(v any) (string, error) { return encodeJSON(v, "", false) }
func toJSONPretty(v any) (string, error)    { return encodeJSON(v, "  ", true) }

func parseJSON(s string) (v any, err error) {
	if s == "" {
		return map[string]any{}, nil
	}
	if json.Unmarshal([]byte(s), &v) != nil {
		return nil, errors.New("the text is not JSON")
	}
	return v, nil
}

func parseInt(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if s != "" && err != nil {
		return 0, errors.New("the text is not a whole number")
	}
	return n, nil
}

func parseUint(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if s != "" && err != nil {
		return 0, errors.New("the text is not a whole number from 0")
	}
	return n, nil
}

func parseFloat(s string) (float64, error) {
	n, err := strconv.ParseFloat(s, 64)
	if s != "" && err != nil {
		return 0, errors.New("the text is not a number")
	}
	return n, nil
}

func parseBool(s string) (bool, error) {
	b, err := strconv.ParseBool(s)
	if s != "" && err != nil {
		return false, errors.New("the text is neither true nor false")
	}
	return b, nil
}

// timestamp returns the time of the rendering: RFC 3339, a layout of Go, or "unix".
func timestamp(layout ...string) (string, error) {
	now := time.Now().UTC()
	switch {
	case len(layout) == 0:
		return now.Format(time.RFC3339), nil
	case len(layout) > 1:
		return "", errors.New("it takes at most one format")
	case layout[0] == "unix":
		return strconv.FormatInt(now.Unix(), 10), nil
	case layout[0] == "unixMilli":
		return strconv.FormatInt(now.UnixMilli(), 10), nil
	}
	return now.Format(layout[0]), nil
}
