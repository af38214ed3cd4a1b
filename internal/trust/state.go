// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"crypto"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/internal/pki"
)

// A state is what the files of an identity mean. It never changes: a change is a new state.
type state struct {
	files    files
	member   Member
	key      crypto.Signer // nil before Prepare
	seal     []byte        // private seal key
	cert     *tls.Certificate
	roots    *pki.Roots // nil before Enter
	identity pki.Identity
	peers    *peers
}

// joined reports whether the agent is a member of a cluster.
func (s *state) joined() bool { return s.member.joined() }

// newState reads files, which describe an agent that is not prepared, one that is about to
// join, or a member.
func newState(f files, now time.Time) (*state, error) {
	s := &state{files: f, peers: newPeers()}
	if len(f) == 0 {
		return s, nil
	}
	for _, read := range []struct {
		file string
		need func() bool
		with func([]byte) error
	}{
		{memberFile, always, func(text []byte) (err error) { s.member, err = parseMember(text); return err }},
		{keyFile, always, func(text []byte) (err error) { s.key, err = pki.ParseKey(text); return err }},
		{sealFile, func() bool { return s.member.Role == pki.RoleServer }, func(text []byte) (err error) { s.seal, err = decodeSealKey(text); return err }},
		{rootsFile, s.joined, func(text []byte) (err error) { s.roots, err = pki.ParseRoots(text); return err }},
		{certFile, s.joined, func(text []byte) error { return s.readCertificate(text, now) }},
	} {
		text, ok := f[read.file]
		if !ok {
			if read.need() {
				return nil, fmt.Errorf("%s is missing", read.file)
			}
			continue
		}
		if !s.joined() && (read.file == rootsFile || read.file == certFile) {
			return nil, fmt.Errorf("%s belongs to a member, but %s does not name its cluster", read.file, memberFile)
		}
		if err := read.with(text); err != nil {
			return nil, fmt.Errorf("%s: %w", read.file, err)
		}
	}
	if !s.joined() {
		return s, s.makeTemporary(now)
	}
	return s, nil
}

func always() bool { return true }

// readCertificate reads the member's certificate, and checks it against key, roots and member.
func (s *state) readCertificate(text []byte, now time.Time) error {
	if err := s.setCertificate(text); err != nil {
		return err
	}
	chain, err := pki.ParseChain(text)
	if err != nil {
		return err
	}
	if s.identity, err = s.roots.Identify(chain, now); err != nil {
		return err
	}
	switch id := s.identity; {
	case id.ID != s.member.ID || id.ClusterID != s.member.ClusterID:
		return fmt.Errorf("it belongs to member %s of cluster %s, but %s names %q of %q", id.ID, id.ClusterID, memberFile, s.member.ID, s.member.ClusterID)
	case id.Role != s.member.Role:
		return fmt.Errorf("it has the role %s, but %s names the role %q", id.Role, memberFile, s.member.Role)
	}
	return nil
}

// setCertificate makes a chain and the key the certificate of handshakes.
func (s *state) setCertificate(text []byte) error {
	chain, err := pki.ParseChain(text)
	if err != nil {
		return err
	}
	if !fits(s.key, chain[0].PublicKey) {
		return errors.New("the private key in " + keyFile + " does not belong to it")
	}
	s.cert = &tls.Certificate{PrivateKey: s.key, Leaf: chain[0]}
	for _, c := range chain {
		s.cert.Certificate = append(s.cert.Certificate, c.Raw)
	}
	return nil
}

func (s *state) makeTemporary(now time.Time) error {
	text, err := pki.Temporary(s.files[keyFile], now)
	if err != nil {
		return err
	}
	return s.setCertificate(text)
}

// fits reports whether a public key belongs to a private key.
func fits(key crypto.Signer, public crypto.PublicKey) bool {
	own, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	return ok && own.Equal(public)
}
