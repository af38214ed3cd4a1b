// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/reeve-run/reeve/api"
)

const (
	fetchTimeout = 10 * time.Second
	fetchLimit   = 1 << 20 // bytes of a document
)

// A fetcher asks an identity provider.
type fetcher struct{ client *http.Client }

// newFetcher returns a fetcher that trusts certificates in PEM; none: those of the system.
func newFetcher(certificates ...string) (*fetcher, error) {
	var roots *x509.CertPool
	for _, text := range certificates {
		if text == "" {
			continue
		}
		if roots == nil {
			roots = x509.NewCertPool()
		}
		if !roots.AppendCertsFromPEM([]byte(text)) {
			return nil, api.Errorf(api.CodeInvalid, "the certificates of the identity provider are not in PEM: paste them from -----BEGIN CERTIFICATE----- to the end")
		}
	}
	return &fetcher{&http.Client{
		Timeout: fetchTimeout,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// get reads a JSON document into v.
func (f *fetcher) get(ctx context.Context, url string, v any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	return f.do(r, v)
}

// do sends a request and reads the JSON of a successful answer into v.
func (f *fetcher) do(r *http.Request, v any) error {
	r.Header.Set("Accept", "application/json")
	resp, err := f.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, fetchLimit+1))
	switch {
	case err != nil:
		return fmt.Errorf("read the answer of %s: %w", r.URL.Host, err)
	case len(text) > fetchLimit:
		return fmt.Errorf("the answer of %s is larger than %d KB", r.URL.Host, fetchLimit>>10)
	case resp.StatusCode/100 == 3:
		return fmt.Errorf("%s%s redirects to another address; use that one", r.URL.Host, r.URL.Path)
	case resp.StatusCode != http.StatusOK:
		return &answerError{r.URL.Host + r.URL.Path, resp.StatusCode, text}
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("the answer of %s%s is not the expected JSON: %w", r.URL.Host, r.URL.Path, err)
	}
	return nil
}

// An answerError is an answer that is not a success.
type answerError struct {
	from   string
	status int
	text   []byte
}

func (e *answerError) Error() string {
	return fmt.Sprintf("%s answers with status %d", e.from, e.status)
}
