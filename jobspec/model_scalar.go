// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
	"time"
)

func (m *modelDecoder) wrong(n *node, what, want string) {
	m.add(n.at, "%q must be %s, not %s", what, want, n.describe())
}

func (m *modelDecoder) duration(n *node, v reflect.Value, what string) {
	switch n.kind {
	case textNode:
		d, err := time.ParseDuration(n.text)
		if err != nil {
			m.add(n.at, "%q %s", what, durationError(n.text))
			return
		}
		v.SetInt(int64(d))
	case numberNode:
		i, err := strconv.ParseInt(n.text, 10, 64)
		if errors.Is(err, strconv.ErrSyntax) {
			m.wrong(n, what, "a duration: whole nanoseconds, or text such as \"30s\"")
			return
		}
		d, err := bareDuration(i, err == nil)
		if err != nil {
			m.add(n.at, "%q %s", what, err)
			return
		}
		v.SetInt(int64(d))
	default:
		m.wrong(n, what, "a duration: whole nanoseconds, or text such as \"30s\"")
	}
}

func (m *modelDecoder) number(n *node, v reflect.Value, what string) {
	if n.kind != numberNode {
		m.wrong(n, what, "a number")
		return
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if v.Kind() == reflect.Float64 && err == nil {
		v.SetFloat(f)
		return
	}
	switch v.Kind() {
	case reflect.Uint8, reflect.Uint64:
		u, err := strconv.ParseUint(n.text, 10, v.Type().Bits())
		if err == nil {
			v.SetUint(u)
			return
		}
		m.notWhole(n, what, err)
	default:
		i, err := strconv.ParseInt(n.text, 10, v.Type().Bits())
		if err == nil {
			v.SetInt(i)
			return
		}
		m.notWhole(n, what, err)
	}
}

func (m *modelDecoder) notWhole(n *node, what string, err error) {
	if errors.Is(err, strconv.ErrRange) || strings.HasPrefix(n.text, "-") {
		m.add(n.at, "%q is out of range: %s", what, shorten(n.text))
		return
	}
	m.wrong(n, what, "a whole number")
}
