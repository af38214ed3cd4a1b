// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package callback

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
)

// How long an attempt may take, and parts of it.
const (
	attemptTimeout = 15 * time.Second
	connectTimeout = 5 * time.Second
)

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSHandshakeTimeout: connectTimeout,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        atOnce,
		MaxIdleConnsPerHost: atOncePerHost,
		IdleConnTimeout:     30 * time.Second,
	}
}

// newClient follows no redirects: what a job's owner named is where its results
// and headers go, and nowhere else.
func newClient(t http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: t, Timeout: attemptTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// answer is what came of a request.
type answer struct {
	code  int           // of the HTTP response; 0: there was none
	words string        // for people
	after time.Duration // that the receiver asks to wait; 0: it does not
}

// post makes one attempt.
func (c *courier) post(ctx context.Context, is *api.Callback) answer {
	req, err := newRequest(ctx, is)
	if err != nil {
		return answer{words: err.Error()}
	}
	res, err := c.client.Do(req)
	if err != nil {
		return answer{words: inWords(err)}
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // so that the connection can be used again
	a := answer{code: res.StatusCode, words: strconv.Itoa(res.StatusCode) + " " + http.StatusText(res.StatusCode)}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
		a.after = time.Duration(min(seconds, int(longestAsked/time.Second))) * time.Second
	}
	if isRedirect(a.code) {
		a.words += ": redirects are not followed"
	}
	return a
}

func newRequest(ctx context.Context, is *api.Callback) (*http.Request, error) {
	body, err := json.Marshal(is.Completion)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, is.Target.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range is.Target.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/json")
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "reeve")
	}
	req.Header.Set(api.CallbackIDHeader, is.ID)
	req.Header.Set(api.CallbackAttemptHeader, strconv.Itoa(is.Attempts+1))
	if secret := is.Target.Secret; secret != "" {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		req.Header.Set(api.CallbackSignatureHeader, "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	return req, nil
}

// inWords is an error without the URL, which is shown beside it.
func inWords(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		if u.Timeout() {
			return "no answer within " + attemptTimeout.String()
		}
		err = u.Err
	}
	return err.Error()
}
