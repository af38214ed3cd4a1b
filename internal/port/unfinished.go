// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package port

import (
	"container/list"
	"net"
	"sync"
)

// unfinished holds the connections that were not handed over yet, oldest first.
type unfinished struct {
	most int

	mu     sync.Mutex
	closed bool
	byAge  *list.List // of net.Conn
	places map[net.Conn]*list.Element
}

func newUnfinished(most int) *unfinished {
	return &unfinished{most: most, byAge: list.New(), places: map[net.Conn]*list.Element{}}
}

// add adds a connection, and closes the oldest one if there are too many. It reports false
// after close.
func (u *unfinished) add(conn net.Conn) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return false
	}
	if len(u.places) >= u.most {
		u.drop(u.byAge.Front()).Close()
	}
	u.places[conn] = u.byAge.PushBack(conn)
	return true
}

// remove removes a connection, if it is still there.
func (u *unfinished) remove(conn net.Conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if e := u.places[conn]; e != nil {
		u.drop(e)
	}
}

func (u *unfinished) drop(e *list.Element) net.Conn {
	conn := u.byAge.Remove(e).(net.Conn)
	delete(u.places, conn)
	return conn
}

// close closes every connection.
func (u *unfinished) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	for conn := range u.places {
		conn.Close()
	}
}
