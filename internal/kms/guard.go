// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package kms

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"sync"

	wrapping "github.com/hashicorp/go-kms-wrapping/v2"
	"google.golang.org/protobuf/proto"
)

// sealedBlock is the PEM type of a sealed key, and serviceHeader names the kind of its service. They
// are part of the format of the files.
const (
	sealedBlock   = "REEVE SEALED KEY"
	serviceHeader = "Service"
)

// A Guard seals the texts of key files, and opens them. Without services it leaves texts unchanged.
// It may be used concurrently. New returns one.
type Guard struct {
	configs []Config

	mu     sync.Mutex
	sealed []byte // that was opened last: the services are not asked again
	opened []byte
}

// New returns a guard that uses the services of a checked configuration.
func New(configs []Config) *Guard { return &Guard{configs: configs} }

// active returns the service that seals; nil if none does.
func (g *Guard) active() *Config {
	for i, c := range g.configs {
		if !c.Inactive {
			return &g.configs[i]
		}
	}
	return nil
}

// Seal returns the text of a key as its file is to contain it. The text must not be empty.
func (g *Guard) Seal(text []byte) ([]byte, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.active()
	if c == nil {
		return text, nil
	}
	if bytes.Equal(text, g.opened) && c.Kind == kindOf(g.sealed) {
		return g.sealed, nil
	}
	body, err := c.use("seal", func(ctx context.Context, w wrapping.Wrapper) ([]byte, error) {
		blob, err := w.Encrypt(ctx, text)
		if err != nil {
			return nil, err
		}
		return proto.Marshal(blob)
	})
	if err != nil {
		return nil, err
	}
	g.sealed = pem.EncodeToMemory(&pem.Block{Type: sealedBlock, Headers: map[string]string{serviceHeader: c.Kind}, Bytes: body})
	g.opened = bytes.Clone(text)
	return g.sealed, nil
}

// Open returns the text of a key from what its file contains. It is stale if the file should
// contain another form: that of another service, or the text itself.
func (g *Guard) Open(file []byte) (text []byte, stale bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	own := ""
	if c := g.active(); c != nil {
		own = c.Kind
	}
	kind := kindOf(file)
	stale = kind != own
	if kind == "" {
		return file, stale, nil
	}
	if bytes.Equal(file, g.sealed) {
		return bytes.Clone(g.opened), stale, nil
	}
	for _, c := range g.configs {
		if c.Kind == kind {
			if text, err = c.open(file); err != nil {
				return nil, false, err
			}
			g.sealed, g.opened = bytes.Clone(file), bytes.Clone(text)
			return text, stale, nil
		}
	}
	return nil, false, fmt.Errorf("it is sealed by the service %q, and the configuration of the agent has no block keyring %q: add the block again", kind, kind)
}

// kindOf returns the kind of the service that sealed a file; "" if none did.
func kindOf(file []byte) string {
	block, rest := pem.Decode(file)
	if block == nil || block.Type != sealedBlock || len(rest) > 0 {
		return ""
	}
	return block.Headers[serviceHeader]
}

func (c *Config) open(file []byte) (text []byte, err error) {
	block, _ := pem.Decode(file)
	var blob wrapping.BlobInfo
	if err := proto.Unmarshal(block.Bytes, &blob); err != nil {
		return nil, errDamaged
	}
	text, err = c.use("open", func(ctx context.Context, w wrapping.Wrapper) ([]byte, error) { return w.Decrypt(ctx, &blob) })
	if err == nil && len(text) == 0 {
		err = errDamaged
	}
	return text, err
}

var errDamaged = errors.New("the sealed key is damaged: restore the file from a backup")
