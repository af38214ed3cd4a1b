// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto/sha256"
	"log/slog"
	"regexp"
	"strings"
	"testing"
)

func TestTokensHaveAFixedForm(t *testing.T) {
	digest := must(Digest(newAuthority(t).CertPEM()))
	if !regexp.MustCompile(`^[0-9a-z]{50}$`).MatchString(digest) {
		t.Errorf("digest %s has not 50 characters in base 36", digest)
	}
	for kind, form := range map[TokenKind]string{
		ServerToken:   `^reeve-server-1-[0-9a-z]{50}-[0-9a-z]{25}$`,
		NodeToken:     `^reeve-node-1-[0-9a-z]{50}-[0-9a-z]{25}$`,
		OperatorToken: `^reeve-operator-1-[0-9a-z]{50}-[0-9a-z]{50}$`,
	} {
		token := NewToken(kind, digest)
		text := token.String()
		if !regexp.MustCompile(form).MatchString(text) {
			t.Errorf("%s has not the form %s", text, form)
		}
		for _, written := range []string{text, text + "\n", text + "\r\n"} {
			if got, err := ParseToken(written); err != nil || got != token {
				t.Errorf("ParseToken(%q) = %v, %v", written, got, err)
			}
			if HashToken(written) != token.Hash() {
				t.Errorf("HashToken(%q) is not the hash of the token", written)
			}
		}
		if token.Hash() != sha256.Sum256([]byte(text)) {
			t.Errorf("%s: the hash is not that of the text", kind)
		}
		if NewToken(kind, digest) == token {
			t.Errorf("%s: two tokens have one secret", kind)
		}
	}
}

func TestBase36PadsSmallValues(t *testing.T) {
	for n, want := range map[int]int{16: 25, 32: 50} {
		if got := base36(make([]byte, n)); got != strings.Repeat("0", want) {
			t.Errorf("%d zero bytes: %s", n, got)
		}
		if got := base36(bytes.Repeat([]byte{0xff}, n)); len(got) != want || checkBase36(got, n) != nil {
			t.Errorf("%d bytes 0xff: %s", n, got)
		}
	}
}

func TestParseTokenNamesTheMistakeAndNoSecret(t *testing.T) {
	good := NewToken(NodeToken, must(Digest(newAuthority(t).CertPEM())))
	text := good.String()
	with := func(change func(*Token)) string {
		token := good
		change(&token)
		return token.String()
	}
	for _, c := range []struct{ what, text, say string }{
		{"empty", "", "is empty"},
		{"newline alone", "\n", "is empty"},
		{"two newlines", text + "\n\n", "white space"},
		{"newline before", "\n" + text, "white space"},
		{"space before", " " + text, "white space"},
		{"space inside", strings.Replace(text, "1-", "1- ", 1), "white space"},
		{"tab after", text + "\t", "white space"},
		{"two tokens", text + "\n" + text, "white space"},
		{"capital letters", strings.ToUpper(text), "capital letters"},
		{"capital kind", strings.Replace(text, "node", "Node", 1), "capital letters"},
		{"other software's token", "SWMTKN-1-abc", "capital letters"},
		{"password", "correct-horse-battery-staple", "does not begin with reeve-"},
		{"uuid", "3f0c2a9e-5b51-4c6e-9d43-0d6a3f1d7f10", "does not begin with reeve-"},
		{"prefix alone", "reeve", "truncated"},
		{"prefix and kind", "reeve-node", "truncated"},
		{"newer version", strings.Replace(text, "-1-", "-2-", 1), "version 1"},
		{"no secret", strings.TrimSuffix(text, "-"+good.Secret), "4 parts"},
		{"longer", text + "-x", "6 parts"},
		{"unknown kind", with(func(t *Token) { t.Kind = "admin" }), "kind is unknown"},
		{"no kind", with(func(t *Token) { t.Kind = "" }), "kind is unknown"},
		{"short digest", with(func(t *Token) { t.Digest = t.Digest[1:] }), "digest, the fourth part, has 49 characters; expected 50"},
		{"long digest", with(func(t *Token) { t.Digest += "0" }), "51 characters"},
		{"no digest", with(func(t *Token) { t.Digest = "" }), "0 characters"},
		{"digest with a letter of another alphabet", with(func(t *Token) { t.Digest = "é" + t.Digest[2:] }), "other characters"},
		{"digest too large", with(func(t *Token) { t.Digest = strings.Repeat("z", 50) }), "is damaged"},
		{"short secret", with(func(t *Token) { t.Secret = t.Secret[1:] }), "secret, the last part, has 24 characters; expected 25"},
		{"secret of an operator", with(func(t *Token) { t.Secret += t.Secret }), "50 characters; expected 25"},
		{"join token as operator's", with(func(t *Token) { t.Kind = OperatorToken }), "25 characters; expected 50"},
		{"secret with punctuation", with(func(t *Token) { t.Secret = "_" + t.Secret[1:] }), "other characters"},
		{"secret with a sign", with(func(t *Token) { t.Secret = "+" + t.Secret[1:] }), "other characters"},
		{"secret too large", with(func(t *Token) { t.Secret = strings.Repeat("z", 25) }), "is damaged"},
		{"huge", "reeve-" + strings.Repeat("a", 1<<20), "characters, and is no token"},
		{"null byte", text[:40] + "\x00" + text[41:], "other characters"},
	} {
		_, err := ParseToken(c.text)
		wantWords(t, c.what, err, "read token:", c.say)
		if err == nil {
			continue
		}
		for part := range strings.FieldsFuncSeq(c.text, func(r rune) bool { return strings.ContainsRune("-\n\t\r ", r) }) {
			if len(part) > 8 && part != string(OperatorToken) && strings.Contains(err.Error(), part) {
				t.Errorf("%s: the error repeats a part of the token: %v", c.what, err)
			}
		}
	}
}

func TestLogsHoldNoSecret(t *testing.T) {
	token := NewToken(OperatorToken, must(Digest(newAuthority(t).CertPEM())))
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("token", "token", token)
	if strings.Contains(log.String(), token.Secret) || !strings.Contains(log.String(), token.Digest) {
		t.Errorf("the log must have the digest, and not the secret: %s", log.String())
	}
}
