// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// exampleWebCommand declares a small web server, so that the examples need only this
// binary.
func exampleWebCommand(c *cli) *command {
	var listen, callee string
	var startDelay time.Duration
	return &command{
		use:   "example-web",
		short: "A tiny web server, used by the examples",
		long: `Serve HTTP for the examples: / returns the instance and version, and /healthz
returns 200 after the start. The server listens on the port labelled "http" of
its allocation, prints VERSION from its environment and the content of
GREETING_FILE, logs one line per request, and ends gracefully on SIGINT and
SIGTERM. ERRORS is the percentage of requests to / that it answers with 500.
While UNREADY_FILE exists, /healthz returns 503.

With -call, or CALL in its environment, each response to / ends with the
response of another service, which the server asks through the proxy of
http_proxy, if that is set.`,
		hidden: true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&listen, "listen", "", "listen on `HOST:PORT` instead of the allocation's port")
			f.StringVar(&callee, "call", "", "ask `URL` for each request to /, and append the response")
			f.DurationVar(&startDelay, "start-delay", 0, "wait `DURATION` before /healthz returns 200")
		},
		offline: true,
		run: func(r *call) error {
			handler := c.exampleHandler(cmp.Or(callee, c.Getenv("CALL")), c.Now().Add(startDelay))
			return c.serveExample(r.ctx, listen, handler)
		},
	}
}

func (c *cli) serveExample(ctx context.Context, listen string, handler http.Handler) error {
	address := cmp.Or(listen, c.Getenv("NOMAD_ADDR_http"), ":"+cmp.Or(c.Getenv("PORT"), "8080"))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: exampleTimeout}
	fmt.Fprintf(c.Stdout, "listening on %s\n", listener.Addr())

	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	fmt.Fprintln(c.Stdout, "shutting down")
	grace, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	fmt.Fprintln(c.Stdout, "bye")
	return nil
}

// exampleHandler responds like an instance of a service, which is healthy from the
// given time on. If callee is not empty, the service calls this URL.
func (c *cli) exampleHandler(callee string, healthyFrom time.Time) http.Handler {
	mux := http.NewServeMux()
	errorRate, _ := strconv.Atoi(c.Getenv("ERRORS"))
	client := &http.Client{Timeout: exampleTimeout}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(c.Stdout, "%s %s from %s\n", r.Method, r.URL.Path, r.RemoteAddr)
		if rand.IntN(100) < errorRate {
			http.Error(w, "an error, as ERRORS says", http.StatusInternalServerError)
			return
		}
		var answer []byte
		if callee != "" {
			var err error
			if answer, err = callExample(r.Context(), client, callee); err != nil {
				err = fmt.Errorf("call %s: %w", withoutPassword(callee), err)
				fmt.Fprintln(c.Stdout, err)
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
		}
		fmt.Fprintf(w, "Hello from %s, instance %s, version %s\n", cmp.Or(c.Getenv("NOMAD_JOB_NAME"), "example-web"),
			cmp.Or(c.Getenv("NOMAD_ALLOC_INDEX"), "0"), cmp.Or(c.Getenv("VERSION"), "1"))
		if greeting, err := os.ReadFile(c.Getenv("GREETING_FILE")); err == nil {
			w.Write(greeting)
		}
		w.Write(answer)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, err := os.Stat(c.Getenv("UNREADY_FILE"))
		switch {
		case c.Now().Before(healthyFrom):
			http.Error(w, "starting", http.StatusServiceUnavailable)
		case err == nil:
			http.Error(w, "not ready, as UNREADY_FILE says", http.StatusServiceUnavailable)
		default:
			fmt.Fprintln(w, "ok")
		}
	})
	return mux
}

const (
	exampleTimeout = 5 * time.Second // of a call to another service
	exampleRoom    = 64 << 10        // bytes of its response
)

// withoutPassword returns an address as a log may show it.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return "a service whose address is not valid"
	case u.User == nil:
		return address
	}
	return u.Redacted()
}

// callExample returns the response of another service.
func callExample(ctx context.Context, client *http.Client, address string) ([]byte, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(q)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, exampleRoom))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", resp.StatusCode, strings.TrimSpace(string(answer)))
	}
	return answer, err
}
