// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"strings"
)

// A TokenKind is the purpose of a token.
type TokenKind string

// Kinds of tokens.
const (
	ServerToken   TokenKind = "server"   // admits new servers
	NodeToken     TokenKind = "node"     // admits new nodes
	OperatorToken TokenKind = "operator" // permits everything
	UserToken     TokenKind = "user"     // permits what its policies grant
	// IntroductionToken admits new nodes for a short time, into one pool; see Introduction.
	IntroductionToken TokenKind = "introduction"
)

// secretBytes returns the size of the kind's random secret, or 0 for an unknown kind and for
// introduction tokens.
func (k TokenKind) secretBytes() int {
	switch k {
	case ServerToken, NodeToken:
		return 16
	case OperatorToken, UserToken:
		return 32
	}
	return 0
}

// A Token proves to a server that its bearer may join the cluster or operate it, and to the
// bearer that the server belongs to the cluster: it contains the digest of the root.
type Token struct {
	Kind   TokenKind
	Digest string // of the cluster's root
	Secret string
}

const (
	tokenName    = "reeve"
	tokenVersion = "1"
	digestBytes  = sha256.Size
	maxToken     = 256 // characters
	// maxIntroduction bounds an introduction token, in characters. Its claims contain names.
	maxIntroduction = 1024
)

// NewToken creates a token with a random secret. It panics if the kind is unknown.
func NewToken(kind TokenKind, digest string) Token {
	n := kind.secretBytes()
	if n == 0 {
		panic("pki: unknown kind of token")
	}
	secret := make([]byte, n)
	_, _ = rand.Read(secret) // it never fails
	return Token{Kind: kind, Digest: digest, Secret: base36(secret)}
}

// String returns the token as users pass it: reeve-KIND-1-DIGEST-SECRET.
func (t Token) String() string {
	return strings.Join([]string{tokenName, string(t.Kind), tokenVersion, t.Digest, t.Secret}, "-")
}

// LogValue keeps the secret out of logs.
func (t Token) LogValue() slog.Value {
	return slog.StringValue(strings.Join([]string{tokenName, string(t.Kind), tokenVersion, t.Digest, "(secret)"}, "-"))
}

// Hash returns the SHA-256 of the token, which servers store in place of the token.
func (t Token) Hash() [32]byte { return HashToken(t.String()) }

// HashToken returns the hash of a token that is given as text. Like ParseToken, it ignores one
// newline at the end.
func HashToken(text string) [32]byte {
	var short [maxToken]byte // no allocation: this is a part of every request
	return sha256.Sum256(append(short[:0], withoutNewline(text)...))
}

func withoutNewline(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}

// ParseToken reads a token. It ignores one newline at the end, as files have it. No error
// repeats a part of the text, which may be a secret.
func ParseToken(text string) (Token, error) {
	t, err := parseToken(withoutNewline(text))
	if err != nil {
		return Token{}, fmt.Errorf("read token: %w", err)
	}
	return t, nil
}

func parseToken(text string) (Token, error) {
	longest := maxToken
	if strings.HasPrefix(text, tokenName+"-"+string(IntroductionToken)+"-") {
		longest = maxIntroduction
	}
	switch {
	case text == "":
		return Token{}, errors.New("it is empty")
	case len(text) > longest:
		return Token{}, fmt.Errorf("it has %d characters, and is no token: tokens begin with %s- and are shorter", len(text), tokenName)
	case strings.ContainsAny(text, " \t\r\n\v\f"):
		return Token{}, errors.New("it contains white space: pass the token alone, on one line")
	case strings.ContainsFunc(text, func(r rune) bool { return r >= 'A' && r <= 'Z' }):
		return Token{}, errors.New("it contains capital letters: tokens are in lower case")
	}
	parts := strings.Split(text, "-")
	switch {
	case parts[0] != tokenName:
		return Token{}, fmt.Errorf("it does not begin with %s-, and is no token of a cluster", tokenName)
	case len(parts) < 3:
		return Token{}, errors.New("it is truncated: a token is reeve-KIND-1-DIGEST-SECRET")
	case parts[2] != tokenVersion:
		return Token{}, fmt.Errorf("this release reads version %s of tokens, and the token has another: use the release that made it, or make a token with this one", tokenVersion)
	case len(parts) != 5:
		return Token{}, fmt.Errorf("it has %d parts; expected 5: reeve-KIND-1-DIGEST-SECRET", len(parts))
	}
	t := Token{Kind: TokenKind(parts[1]), Digest: parts[3], Secret: parts[4]}
	if t.Kind.secretBytes() == 0 && t.Kind != IntroductionToken {
		return Token{}, errors.New("its kind is unknown; tokens are of kind server, node, introduction or operator")
	}
	if err := checkBase36(t.Digest, digestBytes); err != nil {
		return Token{}, fmt.Errorf("its digest, the fourth part, %w", err)
	}
	if t.Kind == IntroductionToken {
		if _, err := ReadIntroduction(t); err != nil {
			return Token{}, fmt.Errorf("its last part %w", err)
		}
	} else if err := checkBase36(t.Secret, t.Kind.secretBytes()); err != nil {
		return Token{}, fmt.Errorf("its secret, the last part, %w", err)
	}
	return t, nil
}

// checkBase36 checks that a text is the encoding of n bytes.
func checkBase36(s string, n int) error {
	if want := base36Length(n); len(s) != want {
		return fmt.Errorf("has %d characters; expected %d: copy the token again", len(s), want)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'z') }) {
		return errors.New("contains other characters than digits and lower-case letters: copy the token again")
	}
	if value, ok := new(big.Int).SetString(s, 36); !ok || value.BitLen() > 8*n {
		return errors.New("is damaged: copy the token again")
	}
	return nil
}
