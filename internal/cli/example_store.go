// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/internal/secretfile"
)

// exampleStoreCommand declares the database of the examples.
func exampleStoreCommand(c *cli) *command {
	var listen, dir string
	return &command{
		use:   "example-store",
		short: "A tiny database, used by the examples",
		long: `Serve the smallest of databases for the examples: each request to /visits adds
one to a number, which is stored in a file before the response. Requests need
the password that is PASSWORD in the environment, for any user name. /healthz
returns 200. The server listens on the port labelled "http" of its allocation.`,
		hidden: true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&listen, "listen", "", "listen on `HOST:PORT` instead of the allocation's port")
			f.StringVar(&dir, "dir", ".", "keep the number in `DIRECTORY`")
		},
		offline: true,
		run: func(r *call) error {
			s := &exampleStore{file: filepath.Join(dir, "visits"), password: c.Getenv("PASSWORD")}
			if s.password == "" {
				return errors.New("there is no PASSWORD in the environment: set one")
			}
			if _, err := s.read(); err != nil {
				return err
			}
			return c.serveExample(r.ctx, listen, s.handler())
		},
	}
}

type exampleStore struct {
	file, password string

	mu sync.Mutex
}

func (s *exampleStore) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /visits", func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); subtle.ConstantTimeCompare([]byte(password), []byte(s.password)) != 1 {
			http.Error(w, "wrong password", http.StatusUnauthorized)
			return
		}
		n, err := s.add()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, "visit %d\n", n)
	})
	return mux
}

// add adds one to the stored number.
func (s *exampleStore) add() (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.read()
	if err != nil {
		return 0, err
	}
	n++
	return n, secretfile.Write(s.file, []byte(strconv.Itoa(n)+"\n"))
}

func (s *exampleStore) read() (int, error) {
	text, err := os.ReadFile(s.file)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("%s does not hold a number: %w", s.file, err)
	}
	return n, nil
}
