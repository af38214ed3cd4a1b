// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package secretfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// longestToken bounds a token in a file, in bytes.
const longestToken = 4 << 10

// Write replaces a file that only its owner can read, in one step.
func Write(path string, text []byte) error {
	if err := Replace(path, text); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Replace is Write for a file that may have its earlier content again after a crash of the machine.
func Replace(path string, text []byte) error {
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

// SyncDir writes the names of a directory's files to the disk.
func SyncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// ReadToken reads a token from a file, or from in if the path is "-".
func ReadToken(path string, in io.Reader) (string, error) {
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, longestToken+1))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return tokenIn(text, path)
}

// tokenIn returns the one token in the text of a file.
func tokenIn(text []byte, path string) (string, error) {
	token := strings.TrimSpace(string(text))
	if token == "" || len(text) > longestToken || strings.ContainsFunc(token, unicode.IsControl) {
		return "", fmt.Errorf("%s does not contain exactly one token", path)
	}
	return token, nil
}
