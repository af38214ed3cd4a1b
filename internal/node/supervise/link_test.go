// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"errors"
	"net"
	"path/filepath"
	"testing"
)

// TestAnAnswerIsReadThoughTheSupervisorHasEnded: a supervisor answers its shutdown, and ends. Another call, which fails to
// write then, must not take the answer away.
func TestAnAnswerIsReadThoughTheSupervisorHasEnded(t *testing.T) {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "socket")})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.DialUnix("unix", nil, listener.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	server, err := listener.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
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
