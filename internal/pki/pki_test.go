// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"
)

const cluster = "3f0c2a9e-5b51-4c6e-9d43-0d6a3f1d7f10"

var day = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func newAuthority(t *testing.T) *Authority {
	t.Helper()
	return must(NewAuthority(cluster, day))
}

func rootsOf(authorities ...*Authority) *Roots {
	var text []byte
	for _, a := range authorities {
		text = append(text, a.CertPEM()...)
	}
	return must(ParseRoots(text))
}

func leafOf(id string, role Role) Leaf {
	return Leaf{ID: id, Role: role, ClusterID: cluster, Region: "global", Address: "10.0.0.1:4646"}
}

// newRequest returns a request of a new key.
func newRequest() []byte { return must(NewRequest(must(NewKey()), "n1")) }

// sign returns the chain of a new member.
func sign(a *Authority, leaf Leaf, now time.Time) []*x509.Certificate {
	return must(ParseChain(must(a.Sign(newRequest(), leaf, now))))
}

// request signs a template that names whatever the attacker likes.
func request(template *x509.CertificateRequest, key crypto.Signer) []byte {
	return encodeBlock(blockRequest, must(x509.CreateCertificateRequest(rand.Reader, template, key)))
}

// wantReason checks that an error is the refusal of a certificate for a reason.
func wantReason(t *testing.T, what string, err error, want Reason, words ...string) {
	t.Helper()
	var refused *CertificateError
	if !errors.As(err, &refused) || refused.Reason != want {
		t.Errorf("%s: error %v; want a refusal with the reason %q", what, err, want)
		return
	}
	wantWords(t, what, err, words...)
}

func wantWords(t *testing.T, what string, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error; want one that says %q", what, words)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s: error %q does not say %q", what, err, word)
		}
	}
}

func ecKey(curve elliptic.Curve) crypto.Signer { return must(ecdsa.GenerateKey(curve, rand.Reader)) }

func edKey() crypto.Signer {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	return must(key, err)
}

func rsaKey(bits int) crypto.Signer { return must(rsa.GenerateKey(rand.Reader, bits)) }

// breakSignature flips a bit of the signature, the last part of a request or certificate.
func breakSignature(text []byte) []byte {
	block, _ := pem.Decode(text)
	block.Bytes[len(block.Bytes)-1] ^= 1
	return pem.EncodeToMemory(block)
}

var oidBasicConstraints = asn1.ObjectIdentifier{2, 5, 29, 19}
