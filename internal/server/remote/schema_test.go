// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"
)

// TestGeneratedCodeIsFresh compares the schema with the one that the code was
// generated from.
func TestGeneratedCodeIsFresh(t *testing.T) {
	schema, err := os.ReadFile("workers.proto")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(schema)
	if got := hex.EncodeToString(sum[:]); got != schemaSum {
		t.Errorf("the schema has changed since the code was generated: run go generate ./internal/server/remote")
	}
}
