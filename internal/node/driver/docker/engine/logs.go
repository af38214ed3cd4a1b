// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// A Message is a piece of a container's output: a line, or a part of a long one.
type Message struct {
	Time   time.Time
	Stderr bool
	Text   []byte // with its line's end
}

// maxFrame bounds a piece of output, in bytes. The daemon cuts lines after 16 KiB.
const maxFrame = 1 << 20

// Logs calls receive with each message since a moment, which is included, until the container has
// ended. The container has no terminal.
func (c *Client) Logs(ctx context.Context, id string, since time.Time, receive func(Message)) error {
	query := url.Values{"stdout": {"1"}, "stderr": {"1"}, "timestamps": {"1"}, "follow": {"1"}}
	if !since.IsZero() {
		query.Set("since", strconv.FormatInt(since.Unix(), 10)+fmt.Sprintf(".%09d", since.Nanosecond()))
	}
	answer, err := c.send(ctx, http.MethodGet, "/containers/"+id+"/logs", query, nil, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	r := bufio.NewReader(answer.Body)
	for {
		stream, text, err := readFrame(r)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return c.broken(ctx, err)
		}
		m, err := parseMessage(text)
		if err != nil {
			return err
		}
		m.Stderr = stream == 2
		receive(m)
	}
}

// readFrame reads a frame of the stream in which the daemon mixes the output of a container.
func readFrame(r io.Reader) (stream byte, text []byte, err error) {
	var header [8]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(header[4:])
	if size > maxFrame {
		return 0, nil, fmt.Errorf("a frame of the Docker daemon has %d bytes: at most %d are possible", size, maxFrame)
	}
	text = make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return header[0], text, nil
}

// parseMessage splits the time from a message.
func parseMessage(text []byte) (Message, error) {
	for i, b := range text[:min(len(text), 64)] {
		if b != ' ' {
			continue
		}
		at, err := time.Parse(time.RFC3339Nano, string(text[:i]))
		if err != nil {
			return Message{}, fmt.Errorf("read the time of a message of the Docker daemon: %w", err)
		}
		return Message{Time: at, Text: text[i+1:]}, nil
	}
	return Message{}, fmt.Errorf("a message of the Docker daemon has no time: %.40q", text)
}

// RawLogs is Logs for a container with a terminal, whose output has no messages.
func (c *Client) RawLogs(ctx context.Context, id string, since time.Time, receive func([]byte)) error {
	query := url.Values{"stdout": {"1"}, "stderr": {"1"}, "follow": {"1"}}
	if !since.IsZero() {
		query.Set("since", strconv.FormatInt(since.Unix(), 10)+fmt.Sprintf(".%09d", since.Nanosecond()))
	}
	answer, err := c.send(ctx, http.MethodGet, "/containers/"+id+"/logs", query, nil, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := answer.Body.Read(b)
		if n > 0 {
			receive(b[:n])
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return c.broken(ctx, err)
		}
	}
}
