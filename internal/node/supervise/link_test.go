// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// connected returns the two ends of a connection.
func connected(t *testing.T) (client, server *net.UnixConn) {
	t.Helper()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "socket")})
	if err == nil {
		defer listener.Close()
		client, err = net.DialUnix("unix", nil, listener.Addr().(*net.UnixAddr))
	}
	if err == nil {
		server, err = listener.AcceptUnix()
	}
	if err != nil {
		t.Fatal(err)
	}
	return client, server
}

// A task with a huge environment must not end the connection, which all tasks of the node share.
func TestARequestThatIsTooLargeLeavesTheConnection(t *testing.T) {
	client, server := connected(t)
	defer server.Close()
	l := newLink(client, func(*frame) {})
	defer l.close()
	err := l.call(t.Context(), verbStart, startRequest{Spec: Spec{Env: []string{"HUGE=" + strings.Repeat("x", maxFrame)}}}, nil)
	if !errors.Is(err, errTooLarge) || !strings.Contains(err.Error(), "is over the limit of 8388608") {
		t.Errorf("a request that is too large: %v", err)
	}
	answered := make(chan error, 1)
	go func() {
		f, err := readFrame(server)
		if err == nil {
			err = writeFrame(server, &frame{ID: f.ID})
		}
		answered <- err
	}()
	if err := errors.Join(l.call(t.Context(), verbStatus, nil, nil), <-answered); err != nil {
		t.Errorf("the next request: %v", err)
	}
}

// TestAnAnswerIsReadThoughTheSupervisorHasEnded: a supervisor answers its shutdown, and ends. Another call, which fails to
// write then, must not take the answer away.
func TestAnAnswerIsReadThoughTheSupervisorHasEnded(t *testing.T) {
	client, server := connected(t)
	held := make(chan struct{})
	l := newLink(client, func(*frame) { <-held }) // keeps the reader from the answer
	defer l.close()
	answered := make(chan error, 1)
	go func() { answered <- l.call(t.Context(), verbShutdown, nil, nil) }()
	f, err := readFrame(server)
	if err == nil {
		err = errors.Join(writeFrame(server, &frame{}), writeFrame(server, &frame{ID: f.ID}), server.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := l.call(t.Context(), verbStatus, nil, nil); !errors.Is(err, errLinkLost) {
		t.Errorf("a call to a supervisor that has ended: %v", err)
	}
	close(held)
	if err := <-answered; err != nil {
		t.Errorf("the shutdown that was answered: %v", err)
	}
}
