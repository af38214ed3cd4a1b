// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func TestFramesOfAHostileDaemonAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"whole":   {"\x02\x00\x00\x00\x00\x00\x00\x02hi", nil},
		"end":     {"", io.EOF},
		"cut":     {"\x01\x00\x00\x00\x00\x00\x00\x09hi", io.ErrUnexpectedEOF},
		"no head": {"\x01\x00", io.ErrUnexpectedEOF},
	} {
		stream, text, err := readFrame(strings.NewReader(c.text))
		if !errors.Is(err, c.want) || err == nil && (stream != 2 || string(text) != "hi") {
			t.Errorf("%s: %d, %q, %v", name, stream, text, err)
		}
	}
	if _, _, err := readFrame(bytes.NewReader([]byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("a frame of 4 GiB: %v", err)
	}
}

func TestMessagesHaveTimes(t *testing.T) {
	m, err := parseMessage([]byte("2026-11-23T23:12:22.347000001Z a b\n"))
	if err != nil || string(m.Text) != "a b\n" || !m.Time.Equal(time.Date(2026, 11, 23, 23, 12, 22, 347000001, time.UTC)) {
		t.Errorf("got %+v, %v", m, err)
	}
	for _, text := range []string{"", "yesterday a\n", strings.Repeat("x", 100) + " a"} {
		if _, err := parseMessage([]byte(text)); err == nil {
			t.Errorf("%q has a time", text)
		}
	}
}
