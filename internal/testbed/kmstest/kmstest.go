// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package kmstest serves the requests of key management services that Reeve makes, for tests. Its
// keys exist as long as the process.
package kmstest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// A Service answers like Vault's transit engine and like AWS KMS. The zero value is not usable: New
// returns one.
type Service struct {
	Token string // that Vault's clients must present

	mu    sync.Mutex
	aead  cipher.AEAD
	fails int // status of all answers; 0: it works
	calls int
}

// New returns a service with a new key.
func New(token string) *Service {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	block, _ := aes.NewCipher(key)
	aead, _ := cipher.NewGCMWithRandomNonce(block)
	return &Service{Token: token, aead: aead}
}

// Fail makes the service answer with a status; 0: it works again.
func (s *Service) Fail(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = status
}

// Calls returns the number of requests so far.
func (s *Service) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.calls++
	fails := s.fails
	s.mu.Unlock()
	if fails != 0 {
		http.Error(w, `{"errors":["it fails on purpose"],"__type":"Failure","message":"it fails on purpose"}`, fails)
		return
	}
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		s.aws(w, r, strings.TrimPrefix(target, "TrentService."))
		return
	}
	s.transit(w, r)
}

func (s *Service) transit(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Plaintext  string `json:"plaintext"`
		Ciphertext string `json:"ciphertext"`
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	switch {
	case r.Header.Get("X-Vault-Token") != s.Token:
		http.Error(w, `{"errors":["permission denied"]}`, http.StatusForbidden)
	case strings.HasPrefix(r.URL.Path, "/v1/transit/encrypt/"):
		plain, _ := base64.StdEncoding.DecodeString(body.Plaintext)
		sealed := base64.StdEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, nil))
		fmt.Fprintf(w, `{"data":{"ciphertext":"vault:v1:%s"}}`, sealed)
	case strings.HasPrefix(r.URL.Path, "/v1/transit/decrypt/"):
		sealed, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(body.Ciphertext, "vault:v1:"))
		plain, err := s.aead.Open(nil, nil, sealed, nil)
		if err != nil {
			http.Error(w, `{"errors":["cipher: message authentication failed"]}`, http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, `{"data":{"plaintext":"%s"}}`, base64.StdEncoding.EncodeToString(plain))
	default:
		http.Error(w, `{"errors":["no such route"]}`, http.StatusNotFound)
	}
}

func (s *Service) aws(w http.ResponseWriter, r *http.Request, operation string) {
	var body struct{ KeyId, Plaintext, CiphertextBlob string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	switch operation {
	case "DescribeKey":
		fmt.Fprintf(w, `{"KeyMetadata":{"KeyId":%q}}`, body.KeyId)
	case "Encrypt":
		plain, _ := base64.StdEncoding.DecodeString(body.Plaintext)
		fmt.Fprintf(w, `{"KeyId":%q,"CiphertextBlob":%q}`, body.KeyId, base64.StdEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, nil)))
	case "Decrypt":
		sealed, _ := base64.StdEncoding.DecodeString(body.CiphertextBlob)
		plain, err := s.aead.Open(nil, nil, sealed, nil)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"__type":"InvalidCiphertextException","message":"it was sealed by another key"}`)
			return
		}
		fmt.Fprintf(w, `{"KeyId":"key","Plaintext":%q}`, base64.StdEncoding.EncodeToString(plain))
	}
}
