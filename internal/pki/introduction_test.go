// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

func sampleIntroduction() Introduction {
	return Introduction{ID: [16]byte{1, 2, 3}, Issued: 1_790_000_000, Expires: 1_790_000_300, Once: true, NodePool: "edge", NodeName: "edge-7"}
}

func TestIntroductionTokensCarryTheirClaims(t *testing.T) {
	digest := must(Digest(newAuthority(t).CertPEM()))
	key := IntroductionKey(NewClusterKey(), "reeve-node-1-a-b")
	long := sampleIntroduction()
	long.NodePool, long.NodeName = strings.Repeat("p", 255), strings.Repeat("é", 127)
	for _, claims := range []Introduction{sampleIntroduction(), {NodePool: "default", Expires: 1}, long} {
		token := must(claims.Token(digest, key))
		parsed, err := ParseToken(token.String() + "\n")
		if err != nil || parsed != token {
			t.Fatalf("%+v: %v", parsed, err)
		}
		if got, err := VerifyIntroduction(parsed, key); err != nil || got != claims {
			t.Errorf("verified %+v, %v; want %+v", got, err, claims)
		}
		if got, err := ReadIntroduction(parsed); err != nil || got != claims {
			t.Errorf("read %+v, %v", got, err)
		}
		if text := token.LogValue().String(); strings.Contains(text, token.Secret) {
			t.Errorf("a log has the token: %s", text)
		}
	}
	long.NodePool += "p"
	if _, err := long.Token(digest, key); err == nil {
		t.Error("a pool with 256 bytes was encoded")
	}
}

// TestForgedIntroductionsAreRefused changes each character of a token, and uses the keys of
// others.
func TestForgedIntroductionsAreRefused(t *testing.T) {
	digest, other := must(Digest(newAuthority(t).CertPEM())), must(Digest(newAuthority(t).CertPEM()))
	clusterKey := NewClusterKey()
	key := IntroductionKey(clusterKey, "reeve-node-1-a-b")
	token := must(sampleIntroduction().Token(digest, key))
	for what, wrong := range map[string][]byte{
		"of another cluster": IntroductionKey(NewClusterKey(), "reeve-node-1-a-b"), "after a rotation": IntroductionKey(clusterKey, "reeve-node-1-a-c"),
		"none": nil, "the cluster's own": clusterKey, "of the join token alone": IntroductionKey(nil, "reeve-node-1-a-b"),
	} {
		if _, err := VerifyIntroduction(token, wrong); !errors.Is(err, ErrForged) {
			t.Errorf("with the key %s: %v", what, err)
		}
	}
	moved := token
	moved.Digest = other
	if _, err := VerifyIntroduction(moved, key); !errors.Is(err, ErrForged) {
		t.Errorf("with another root: %v", err)
	}
	if as := (Token{Kind: NodeToken, Digest: digest, Secret: token.Secret}); true {
		if _, err := VerifyIntroduction(as, key); err == nil {
			t.Error("a token of another kind is valid")
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"
	for at := range token.Secret {
		c := alphabet[random.IntN(len(alphabet))]
		if c == token.Secret[at] {
			continue
		}
		changed := token
		changed.Secret = token.Secret[:at] + string(c) + token.Secret[at+1:]
		if got, err := VerifyIntroduction(changed, key); err == nil {
			t.Fatalf("character %d as %q: %+v", at, c, got)
		}
	}
}

func TestDamagedIntroductionsAreNotParsed(t *testing.T) {
	digest := must(Digest(newAuthority(t).CertPEM()))
	good := must(sampleIntroduction().Token(digest, make([]byte, 32)))
	raw := must(claimsText.DecodeString(good.Secret))
	claims := raw[:len(raw)-32]
	signed := func(b []byte) string {
		return claimsText.EncodeToString(append(append([]byte(nil), b...), make([]byte, 32)...))
	}
	flags := append([]byte(nil), claims...)
	flags[32] = 2
	for what, c := range map[string]struct{ secret, say string }{
		"empty": {"", "damaged"}, "the code alone": {signed(nil), "damaged"}, "cut off": {signed(claims[:len(claims)-1]), "damaged"},
		"longer": {signed(append(claims[:len(claims):len(claims)], 0)), "damaged"}, "a pool beyond the end": {signed(append(claims[:33:33], 255, 'x')), "damaged"},
		"unknown flags": {signed(flags), "damaged"}, "other alphabet": {strings.Repeat("z", len(good.Secret)), "damaged"},
		"unused bits": {good.Secret[:len(good.Secret)-1] + "v", "damaged"}, "huge": {strings.Repeat("0", 930), "too long"}, "beyond all": {strings.Repeat("0", 2000), "characters, and is no token"},
	} {
		token := Token{Kind: IntroductionToken, Digest: digest, Secret: c.secret}
		_, err := ParseToken(token.String())
		wantWords(t, what, err, "read token:", c.say)
	}
}
