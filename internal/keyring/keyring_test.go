// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package keyring

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/pki"
)

func TestOnlyThePathAndTheKeyDecryptAVariable(t *testing.T) {
	k := New("k1")
	sealed := k.Encrypt("default", "shop/db", []byte("secret"))
	if plain, err := k.Decrypt("default", "shop/db", sealed); err != nil || string(plain) != "secret" {
		t.Fatalf("decrypted %q, %v", plain, err)
	}
	if bytes.Contains(sealed, []byte("secret")) {
		t.Error("the ciphertext contains the plaintext")
	}
	if again := k.Encrypt("default", "shop/db", []byte("secret")); bytes.Equal(again, sealed) {
		t.Error("two encryptions of one text are equal")
	}
	for what, try := range map[string]func() ([]byte, error){
		"another path":       func() ([]byte, error) { return k.Decrypt("default", "shop/d", sealed) },
		"another namespace":  func() ([]byte, error) { return k.Decrypt("dev", "shop/db", sealed) },
		"a moved border":     func() ([]byte, error) { return k.Decrypt("default/shop", "db", sealed) },
		"another key":        func() ([]byte, error) { return New("k1").Decrypt("default", "shop/db", sealed) },
		"a changed byte":     func() ([]byte, error) { return k.Decrypt("default", "shop/db", flipped(sealed, len(sealed)/2)) },
		"a changed version":  func() ([]byte, error) { return k.Decrypt("default", "shop/db", flipped(sealed, 0)) },
		"a cut text":         func() ([]byte, error) { return k.Decrypt("default", "shop/db", sealed[:len(sealed)-1]) },
		"nothing":            func() ([]byte, error) { return k.Decrypt("default", "shop/db", nil) },
		"the sealed key":     func() ([]byte, error) { return k.Decrypt("default", "shop/db", k.Seal(pki.NewClusterKey())) },
		"a text of the root": func() ([]byte, error) { return pki.Decrypt(k.secret, sealed, purposeVariable) },
	} {
		if plain, err := try(); err == nil {
			t.Errorf("%s decrypted %q", what, plain)
		}
	}
}

func flipped(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 1
	return b
}

func TestARootKeyOpensWithItsClusterAndItsRecoveryKey(t *testing.T) {
	k, cluster := New("k1"), pki.NewClusterKey()
	recovery, err := NewRecovery()
	if err != nil {
		t.Fatal(err)
	}
	forRecovery, err := k.SealFor(recovery.Public())
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := ParseRecovery(" " + recovery.Text()[:30] + "\n" + strings.ToUpper(recovery.Text()[30:]) + " ")
	if err != nil {
		t.Fatal(err)
	}
	sealed := k.Encrypt("default", "a", []byte("secret"))
	for what, open := range map[string]func() (*RootKey, error){
		"the cluster's key": func() (*RootKey, error) { return Open("k1", cluster, k.Seal(cluster)) },
		"the recovery key":  func() (*RootKey, error) { return parsed.Open("k1", forRecovery) },
	} {
		opened, err := open()
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if plain, err := opened.Decrypt("default", "a", sealed); err != nil || string(plain) != "secret" {
			t.Errorf("%s: %q, %v", what, plain, err)
		}
	}
	other, _ := NewRecovery()
	for what, open := range map[string]func() (*RootKey, error){
		"another cluster's key":   func() (*RootKey, error) { return Open("k1", pki.NewClusterKey(), k.Seal(cluster)) },
		"another id":              func() (*RootKey, error) { return Open("k2", cluster, k.Seal(cluster)) },
		"another recovery key":    func() (*RootKey, error) { return other.Open("k1", forRecovery) },
		"another id to recover":   func() (*RootKey, error) { return parsed.Open("k2", forRecovery) },
		"a cluster key too short": func() (*RootKey, error) { return Open("k1", cluster[:5], k.Seal(cluster)) },
	} {
		if opened, err := open(); err == nil {
			t.Errorf("%s opened %v", what, opened)
		}
	}
	if a, b := Fingerprint(recovery.Public()), Fingerprint(other.Public()); a == b || len(a) != 16 {
		t.Errorf("the names of two recovery keys are %s and %s", a, b)
	}
}

func TestKeysAreNotPrinted(t *testing.T) {
	k := New("k1")
	recovery, err := NewRecovery()
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, k); text != "root key k1" {
			t.Errorf("%s of a root key is %s", verb, text)
		}
		if text := fmt.Sprintf(verb, recovery); text != "reeve-recovery-1-..." {
			t.Errorf("%s of a recovery key is %s", verb, text)
		}
	}
}

func TestMistypedRecoveryKeys(t *testing.T) {
	recovery, err := NewRecovery()
	if err != nil {
		t.Fatal(err)
	}
	text := recovery.Text()
	body := strings.TrimPrefix(text, recoveryPrefix)
	for i := range body {
		other := "a"
		if body[i] == 'a' {
			other = "b"
		}
		wrong := recoveryPrefix + body[:i] + other + body[i+1:]
		if _, err := ParseRecovery(wrong); err == nil && i < len(body)-1 { // the last character has spare bits
			t.Errorf("a recovery key with another character at %d is accepted", i)
		} else if err != nil && strings.Contains(err.Error(), wrong[20:40]) {
			t.Errorf("the error repeats the key: %v", err)
		}
	}
	for wrong, want := range map[string]string{
		"": "begins with", "reeve-user-1-abc": "begins with", recoveryPrefix: "not complete", text[:len(text)-4]: "", text + "a": "", recoveryPrefix + "!!": "wrong character",
	} {
		if _, err := ParseRecovery(wrong); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseRecovery(%q): %v, want %q", wrong, err, want)
		}
	}
}

func FuzzParseRecovery(f *testing.F) {
	recovery, err := NewRecovery()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(recovery.Text())
	f.Add(recoveryPrefix + "aaaa")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRecovery(text)
		if err != nil {
			return
		}
		again, err := ParseRecovery(r.Text())
		if err != nil || !bytes.Equal(again.Public(), r.Public()) {
			t.Errorf("the text of a parsed key does not parse: %v", err)
		}
	})
}

func BenchmarkDecrypt(b *testing.B) {
	k := New("k1")
	sealed := k.Encrypt("default", "shop/db", make([]byte, 1024))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.Decrypt("default", "shop/db", sealed); err != nil {
			b.Fatal(err)
		}
	}
}
