// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// longestToken bounds a token in a file, in bytes.
const longestToken = 4 << 10

// ReadToken reads a token from a file, or from standard input if the path is "-".
func ReadToken(path string) (string, error) {
	in := io.Reader(os.Stdin)
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, longestToken+1))
	token := strings.TrimSpace(string(text))
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", path, err)
	case token == "" || len(text) > longestToken:
		return "", fmt.Errorf("%s does not contain exactly one token", path)
	}
	return token, nil
}

// writeSecret atomically writes a file that only its owner can read.
func writeSecret(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".secret-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
