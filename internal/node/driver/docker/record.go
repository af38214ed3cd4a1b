// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A record is what the driver remembers of a run of a task over its own end. It exists before the
// container does, so that no container is without one.
type record struct {
	ID         string
	Container  string    `json:",omitempty"` // id of the daemon
	Started    time.Time `json:",omitzero"`  // zero: the daemon has not confirmed a start
	TTY        bool      `json:",omitempty"`
	StopSignal string    `json:",omitempty"` // of the image
	Logs       logPosition
}

// A logPosition is the part of the output that the task's log files hold.
type logPosition struct {
	Time  time.Time    `json:",omitzero"` // of the last message in them
	Files [2]filePlace // of both streams, after that message
}

type filePlace struct {
	File  int
	Bytes int64
}

// records is the directory of the records.
type records struct{ dir string }

func (r records) path(id string) string {
	sum := sha256.Sum256([]byte(id)) // a task's name may be longer than a file's
	return filepath.Join(r.dir, hex.EncodeToString(sum[:16])+".json")
}

// exist reports whether a daemon has containers of this agent.
func (r records) exist() bool {
	found, err := filepath.Glob(filepath.Join(r.dir, "*.json"))
	return err == nil && len(found) > 0
}

// load returns the record of a run; nil: it has none.
func (r records) load(id string) (*record, error) {
	text, err := os.ReadFile(r.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found record
	if err := json.Unmarshal(text, &found); err != nil || found.ID != id {
		return nil, err
	}
	return &found, nil
}

// save replaces a record.
func (r records) save(n *record) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return replace(r.path(n.ID), text)
}

func (r records) remove(id string) error {
	if err := os.Remove(r.path(id)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func replace(path string, text []byte) error {
	temporary := path + ".new"
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// identity returns the id with which an agent labels its containers. It lives as long as the
// agent's data directory.
func (r records) identity() (string, error) {
	path := filepath.Join(r.dir, "agent")
	if text, err := os.ReadFile(path); err == nil && len(text) == 32 {
		return string(text), nil
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return "", err
	}
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	id := hex.EncodeToString(b[:])
	return id, replace(path, []byte(id))
}
