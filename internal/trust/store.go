// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/internal/pki"
)

// A Store keeps the identity of this agent. Open returns one. Its methods may be called
// concurrently.
type Store struct {
	Logger *slog.Logger // set before use; nil means slog.Default
	// Renewed is called after each renewal of the certificate; set before use, may be nil.
	Renewed func(context.Context)

	dir     directory
	current atomic.Pointer[state]
	renewal renewal

	mu      sync.Mutex // serializes changes, and guards the fields below
	pending []byte     // private key of the renewal that is under way
}

// Open returns the identity in a directory. A directory without an identity, or one that does
// not exist, holds an agent that has not joined a cluster.
func Open(dir string) (*Store, error) { return OpenGuarded(dir, nil) }

// OpenGuarded is like Open, with a guard of the seal key.
func OpenGuarded(dir string, guard Guard) (*Store, error) {
	s := &Store{dir: directory{path: dir, guard: guard}, renewal: newRenewal()}
	s.current.Store(&state{peers: newPeers()})
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err := s.dir.locked(s.load); err != nil {
		return nil, fmt.Errorf("open identity in %s: %w", dir, err)
	}
	return s, nil
}

// load reads the files. The caller holds the directory's lock.
func (s *Store) load() error {
	found, stale, err := s.dir.read()
	if err != nil {
		return err
	}
	if stale {
		if err := s.dir.commit(files{sealFile: found[sealFile]}); err != nil {
			return fmt.Errorf("store the seal key again: %w", err)
		}
	}
	if maps.EqualFunc(found, s.current.Load().files, bytes.Equal) {
		return nil
	}
	next, err := newState(found, time.Now())
	var refused *pki.CertificateError
	switch {
	case errors.As(err, &refused) && refused.Reason == pki.ReasonEarly:
		return err // the clock is wrong, not the file
	case err != nil:
		return fmt.Errorf("%w; restore the directory from a backup, or remove it and join again", err)
	}
	s.current.Store(next)
	return nil
}

// Member returns this agent as a member; false if it has not joined a cluster.
func (s *Store) Member() (Member, bool) {
	st := s.current.Load()
	m := st.member
	m.Servers = slices.Clone(m.Servers)
	return m, st.joined()
}

// PreparedID returns the id with which Prepare was last called, so that an agent that was
// killed while it joined tries again as the same member; "" if it was not called.
func (s *Store) PreparedID() string { return s.current.Load().member.ID }

// SealKey returns the private seal key; nil before Prepare.
func (s *Store) SealKey() (private []byte) { return bytes.Clone(s.current.Load().seal) }

// Expires returns the time at which the certificate expires; zero without a certificate.
func (s *Store) Expires() time.Time { return s.current.Load().identity.NotAfter }

// Roots returns the roots that this member trusts; nil before Enter.
func (s *Store) Roots() *pki.Roots { return s.current.Load().roots }

// Prepare makes the keys of a future member, unless it has them, and returns a certificate
// signing request and the public seal key. It can be repeated. A different id than before
// gets new keys; a member keeps its id.
func (s *Store) Prepare(id string) (csrPEM, sealPublic []byte, err error) {
	err = s.change(func(st *state) (files, error) {
		switch {
		case st.joined() && st.member.ID != id:
			return nil, s.taken(st.member)
		case st.member.ID == id && st.seal != nil:
			return nil, nil
		}
		return prepared(st, id)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("prepare to join: %w", err)
	}
	st := s.current.Load()
	if csrPEM, err = pki.NewRequest(st.files[keyFile], id); err != nil {
		return nil, nil, fmt.Errorf("prepare to join: %w", err)
	}
	if sealPublic, err = pki.SealPublic(st.seal); err != nil {
		return nil, nil, fmt.Errorf("prepare to join: %w", err)
	}
	return csrPEM, sealPublic, nil
}

// prepared returns the files of an agent that is about to join.
func prepared(st *state, id string) (changes files, err error) {
	changes = files{}
	if st.member.ID != id {
		if changes[memberFile], err = (Member{ID: id}).encode(); err != nil {
			return nil, err
		}
		if changes[keyFile], err = pki.NewKey(); err != nil {
			return nil, err
		}
	}
	changes[sealFile], err = newSealKey()
	return changes, err
}

// taken is the error for an identity that belongs to another member.
func (s *Store) taken(m Member) error {
	return fmt.Errorf("%s holds the identity of member %s (%s) of cluster %s: use another data directory, or remove %s to give the identity up", s.dir.path, m.ID, m.Role, m.ClusterID, s.dir.path)
}

// Enter stores the identity that a server gave: after the agent joined, when its certificate
// was renewed, or when the roots changed. Without servers, the known servers are kept. An
// error changes nothing.
func (s *Store) Enter(m Member, certPEM, rootsPEM []byte) error {
	servers, err := checkServers(m.Servers)
	if err == nil {
		m.Servers = servers
		err = s.change(func(st *state) (files, error) { return s.entered(st, m, certPEM, rootsPEM) })
	}
	if err != nil {
		return fmt.Errorf("store identity: %w", err)
	}
	s.renewal.wake()
	return nil
}

func (s *Store) entered(st *state, m Member, certPEM, rootsPEM []byte) (changes files, err error) {
	switch {
	case st.key == nil:
		return nil, errors.New("the agent has no key; prepare it first")
	case !m.joined():
		return nil, errors.New("the member names no cluster")
	case st.joined() && (st.member.ID != m.ID || st.member.ClusterID != m.ClusterID || st.member.Role != m.Role):
		return nil, s.taken(st.member)
	}
	if len(m.Servers) == 0 {
		m.Servers = st.member.Servers
	}
	chain, err := pki.ParseChain(certPEM)
	if err != nil {
		return nil, err
	}
	if until := chain[0].NotAfter; time.Now().After(until) && !bytes.Equal(certPEM, st.files[certFile]) {
		return nil, fmt.Errorf("the new certificate expired at %s: correct the clock of this machine or of the server", until.UTC().Format(time.RFC3339))
	}
	changes = files{certFile: certPEM, rootsFile: rootsPEM, keyFile: st.files[keyFile]}
	if s.pending != nil {
		if key, err := pki.ParseKey(s.pending); err == nil && fits(key, chain[0].PublicKey) {
			changes[keyFile] = s.pending
		}
	}
	m.Digests = st.member.Digests
	if st.roots != nil { // a version that remembered none stored them
		m.Digests = m.remember(st.roots)
	}
	roots, err := pki.ParseRoots(rootsPEM)
	if err != nil {
		return nil, err
	}
	m.Digests = m.remember(roots)
	if changes[memberFile], err = m.encode(); err != nil {
		return nil, err
	}
	return changes, nil
}

// SetServers remembers the addresses of the servers that this member knows.
func (s *Store) SetServers(addrs []string) error {
	servers, err := checkServers(addrs)
	if err == nil {
		err = s.change(func(st *state) (files, error) {
			if st.member.ID == "" {
				return nil, errors.New("the agent has not prepared to join a cluster")
			}
			if slices.Equal(st.member.Servers, servers) {
				return nil, nil
			}
			m := st.member
			m.Servers = servers
			text, err := m.encode()
			return files{memberFile: text}, err
		})
	}
	if err != nil {
		return fmt.Errorf("store addresses of servers: %w", err)
	}
	return nil
}

// change replaces files. decide gets the state on disk, which another process may have
// changed, and returns the new contents.
func (s *Store) change(decide func(*state) (files, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(s.dir.path, 0o700); err != nil {
		return err
	}
	return s.dir.locked(func() error {
		if err := s.load(); err != nil {
			return err
		}
		changes, err := decide(s.current.Load())
		if err != nil || len(changes) == 0 {
			return err
		}
		all := files{}
		maps.Copy(all, s.current.Load().files)
		maps.Copy(all, changes)
		next, err := newState(all, time.Now())
		if err != nil {
			return err
		}
		if err := s.dir.commit(changes); err != nil {
			return err
		}
		s.current.Store(next)
		return nil
	})
}

func (s *Store) newest() *state { return s.current.Load() }

func (s *Store) logger() *slog.Logger {
	if s.Logger != nil {
		return s.Logger
	}
	return slog.Default()
}
