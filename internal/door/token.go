// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
)

// tokenName is the token's file in the data directory.
const tokenName = "agent.token"

// minTokenLength is the minimum length that makes a token hard to guess.
const minTokenLength = 20

// OpenToken returns the token of a data directory and the path of its file. The first call
// creates them. The caller holds the directory's lock.
func OpenToken(dir string) (token, path string, err error) {
	path = filepath.Join(dir, tokenName)
	token, err = readToken(path)
	if errors.Is(err, fs.ErrNotExist) {
		token, err = writeToken(dir, path)
	}
	if err != nil {
		return "", path, api.Errorf(api.CodeInvalid, "use token file %s: %v; remove it, and the agent makes another", path, err)
	}
	return token, path, nil
}

func readToken(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errors.New("it is no regular file")
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("its mode %#o lets other users in, 0600 is needed", info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(f, 4<<10))
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if len(token) < minTokenLength {
		return "", fmt.Errorf("its token has %d characters, at least %d are needed", len(token), minTokenLength)
	}
	return token, nil
}

// writeToken creates a token. The file is created atomically: an agent that is killed in the
// meantime leaves none.
func writeToken(dir, path string) (token string, err error) {
	f, err := os.CreateTemp(dir, tokenName+".*") // with mode 0600
	if err != nil {
		return "", err
	}
	defer func() {
		f.Close()
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	token = rand.Text()
	if _, err = f.WriteString(token + "\n"); err != nil {
		return "", err
	}
	if err = f.Sync(); err != nil {
		return "", err
	}
	return token, os.Rename(f.Name(), path)
}
