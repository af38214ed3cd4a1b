// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// An Introduction is what an introduction token claims: a join token of nodes that expires, and
// that decides about the pool of its bearer, and about its name. The token contains the claims,
// so that servers store nothing until a machine uses it.
type Introduction struct {
	ID       [introductionID]byte // of the token, random
	Issued   int64                // Unix seconds
	Expires  int64                // Unix seconds
	Once     bool                 // reports whether the token admits one machine only
	NodePool string
	NodeName string // "": the machine's own
}

const (
	introductionID = 16
	// maxClaim bounds the pool and the name, in bytes: their lengths are one byte.
	maxClaim = 255
	// maxClaims bounds the encoded claims with their authentication code.
	maxClaims = introductionID + 2*8 + 1 + 2*(1+maxClaim) + sha256.Size
	flagOnce  = 1
)

// claimsText writes claims in the alphabet of tokens.
var claimsText = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// NewIntroductionID returns a random id of a token.
func NewIntroductionID() (id [introductionID]byte) {
	_, _ = rand.Read(id[:]) // it never fails
	return id
}

// TokenID returns the id of the token as text.
func (i Introduction) TokenID() string { return hex.EncodeToString(i.ID[:]) }

// Expiry returns the end of the token.
func (i Introduction) Expiry() time.Time { return time.Unix(i.Expires, 0).UTC() }

// IntroductionKey derives the key that authenticates introduction tokens. The join token of nodes
// is a part of it, so that its rotation ends all introduction tokens. The cluster's key is, so
// that the join token does not suffice to make them.
func IntroductionKey(clusterKey []byte, nodeToken string) []byte {
	key, err := hkdf.Key(sha256.New, clusterKey, []byte(nodeToken), string(binding("introduction tokens")), sha256.Size)
	if err != nil {
		panic("pki: " + err.Error()) // the length is valid
	}
	return key
}

// Token returns the introduction token of a cluster whose root has the digest.
func (i Introduction) Token(digest string, key []byte) (Token, error) {
	if len(i.NodePool) > maxClaim || len(i.NodeName) > maxClaim {
		return Token{}, fmt.Errorf("the name or the pool has more than %d bytes", maxClaim)
	}
	claims := append([]byte(nil), i.ID[:]...)
	claims = binary.BigEndian.AppendUint64(claims, uint64(i.Issued))
	claims = binary.BigEndian.AppendUint64(claims, uint64(i.Expires))
	flags := byte(0)
	if i.Once {
		flags = flagOnce
	}
	claims = append(claims, flags, byte(len(i.NodePool)))
	claims = append(claims, i.NodePool...)
	claims = append(claims, byte(len(i.NodeName)))
	claims = append(claims, i.NodeName...)
	return Token{Kind: IntroductionToken, Digest: digest, Secret: claimsText.EncodeToString(append(claims, authenticate(key, digest, claims)...))}, nil
}

// authenticate returns the authentication code of claims.
func authenticate(key []byte, digest string, claims []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(digest)) // of a fixed length
	mac.Write(claims)
	return mac.Sum(nil)
}

// ErrForged is the error of an introduction token that the key did not authenticate.
var ErrForged = errors.New("it was not made with this key")

// VerifyIntroduction returns the claims of a token that the key authenticates. It does not
// compare its times with a clock.
func VerifyIntroduction(t Token, key []byte) (Introduction, error) {
	claims, code, err := splitClaims(t.Secret)
	if err != nil {
		return Introduction{}, err
	}
	if t.Kind != IntroductionToken || !hmac.Equal(code, authenticate(key, t.Digest, claims)) {
		return Introduction{}, ErrForged
	}
	return parseClaims(claims)
}

// ReadIntroduction returns the claims of a token that nothing has verified: only the bearer of
// the token may rely on them, about itself.
func ReadIntroduction(t Token) (Introduction, error) {
	claims, _, err := splitClaims(t.Secret)
	if err != nil {
		return Introduction{}, err
	}
	return parseClaims(claims)
}

var errClaims = errors.New("is damaged: copy the token again")

// splitClaims decodes the last part of an introduction token.
func splitClaims(text string) (claims, code []byte, err error) {
	if len(text) > claimsText.EncodedLen(maxClaims) {
		return nil, nil, errors.New("is too long")
	}
	b, err := claimsText.DecodeString(text)
	if err != nil || len(b) < sha256.Size || claimsText.EncodeToString(b) != text {
		return nil, nil, errClaims
	}
	return b[:len(b)-sha256.Size], b[len(b)-sha256.Size:], nil
}

func parseClaims(b []byte) (i Introduction, err error) {
	const fixed = introductionID + 2*8 + 1
	if len(b) < fixed {
		return Introduction{}, errClaims
	}
	copy(i.ID[:], b)
	i.Issued = int64(binary.BigEndian.Uint64(b[introductionID:]))
	i.Expires = int64(binary.BigEndian.Uint64(b[introductionID+8:]))
	i.Once = b[fixed-1] == flagOnce
	pool, rest, ok := cutText(b[fixed:])
	name, rest, okName := cutText(rest)
	if b[fixed-1] > flagOnce || !ok || !okName || len(rest) > 0 {
		return Introduction{}, errClaims
	}
	i.NodePool, i.NodeName = pool, name
	return i, nil
}

// cutText reads a text behind its length.
func cutText(b []byte) (text string, rest []byte, ok bool) {
	if len(b) == 0 || len(b) < 1+int(b[0]) {
		return "", nil, false
	}
	n := 1 + int(b[0])
	return string(b[1:n]), b[n:], true
}
