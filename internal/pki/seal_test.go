// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"testing"
)

func TestSealedSecretsOpenForTheirServerAndPurpose(t *testing.T) {
	private, public, err := NewSealKey()
	if err != nil {
		t.Fatal(err)
	}
	if got := must(SealPublic(private)); !bytes.Equal(got, public) {
		t.Errorf("SealPublic returned %x, want %x", got, public)
	}
	other, _, _ := NewSealKey()
	secret := NewClusterKey()
	sealed := must(Seal(public, secret, "cluster key"))
	if got, err := Unseal(private, sealed, "cluster key"); err != nil || !bytes.Equal(got, secret) {
		t.Errorf("Unseal = %x, %v; want %x", got, err, secret)
	}
	if bytes.Contains(sealed, secret) || bytes.Equal(sealed, must(Seal(public, secret, "cluster key"))) {
		t.Error("the sealed secret is in clear, or two seals are equal")
	}
	_, err = Unseal(private, sealed, "other")
	wantWords(t, "other purpose", err, "another purpose")
	_, err = Unseal(other, sealed, "cluster key")
	wantWords(t, "other server", err, "another server")
	_, err = Unseal(private[1:], sealed, "cluster key")
	wantWords(t, "short key", err, "seal key is damaged")
	_, err = Seal(public[1:], secret, "cluster key")
	wantWords(t, "short public key", err, "seal key is damaged")
	_, err = SealPublic(nil)
	wantWords(t, "no key", err, "damaged")
	wantDamageNoticed(t, sealed, func(b []byte) error { _, err := Unseal(private, b, "cluster key"); return err })
}

func TestEncryptedSecretsNeedTheirKeyAndPurpose(t *testing.T) {
	key := NewClusterKey()
	for _, plain := range [][]byte{{}, []byte("x"), bytes.Repeat([]byte("secret"), 1000)} {
		sealed := Encrypt(key, plain, "ca key")
		if got, err := Decrypt(key, sealed, "ca key"); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("Decrypt = %x, %v; want %x", got, err, plain)
		}
		if len(plain) > 1 && bytes.Contains(sealed, plain[:6]) || bytes.Equal(sealed, Encrypt(key, plain, "ca key")) {
			t.Error("the secret is in clear, or two encryptions are equal")
		}
	}
	sealed := Encrypt(key, []byte("secret"), "ca key")
	_, err := Decrypt(key, sealed, "other")
	wantWords(t, "other purpose", err, "purpose")
	_, err = Decrypt(NewClusterKey(), sealed, "ca key")
	wantWords(t, "other key", err, "another cluster key")
	_, err = Decrypt(key[1:], sealed, "ca key")
	wantWords(t, "short key", err, "31 bytes; expected 32")
	wantDamageNoticed(t, sealed, func(b []byte) error { _, err := Decrypt(key, b, "ca key"); return err })
	defer func() {
		if recover() == nil {
			t.Error("Encrypt accepts a short key")
		}
	}()
	Encrypt(key[1:], nil, "ca key")
}

// wantDamageNoticed checks that every flipped bit and every truncation is an error.
func wantDamageNoticed(t *testing.T, sealed []byte, open func([]byte) error) {
	t.Helper()
	for i := range sealed {
		damaged := bytes.Clone(sealed)
		damaged[i] ^= 1
		if open(damaged) == nil {
			t.Errorf("byte %d flipped: no error", i)
		}
		if open(sealed[:i]) == nil {
			t.Errorf("truncated to %d bytes: no error", i)
		}
	}
	sealed = bytes.Clone(sealed)
	sealed[0]++
	wantWords(t, "newer version", open(sealed), "newer release")
}
