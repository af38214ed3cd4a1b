// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/reeve-run/reeve/api"
)

// attempts is the number of times that a download is tried before the restart policy of the task
// decides.
const attempts = 3

// download writes the source's file to blobName, and verifies its checksum.
func download(ctx context.Context, root *os.Root, r *Request) (size int64, err error) {
	sum := r.Source.Checksum
	if sum.URL != "" {
		if sum, err = readChecksums(ctx, r); err != nil {
			return 0, err
		}
	}
	for n := 1; ; n++ {
		size, err = downloadOnce(ctx, root, r, sum)
		if err == nil || n == attempts || ctx.Err() != nil || !explain(r.Source, err).Temporary {
			return size, err
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(time.Duration(n) * time.Second):
		}
	}
}

func downloadOnce(ctx context.Context, root *os.Root, r *Request, sum api.ArtifactChecksum) (int64, error) {
	body, err := open(ctx, r, r.Source.URL, r.Limits.Download)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	f, err := root.OpenFile(blobName, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	check := newHash(sum.Algorithm)
	size, err := io.Copy(io.MultiWriter(f, check), io.LimitReader(body, r.Limits.Download+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	if size > r.Limits.Download {
		return 0, tooLarge(r.Limits.Download)
	}
	if got := fmt.Sprintf("%x", check.Sum(nil)); sum.IsSet() && got != sum.Hex {
		return 0, &Failure{
			Text: fmt.Sprintf("the %s of the file is %s, and not %s", sum.Algorithm, got, sum.Hex),
			Hint: "the file changed, or the checksum in the job is that of another file",
		}
	}
	return size, nil
}

func tooLarge(limit int64) error {
	return &Failure{Text: fmt.Sprintf("the file has more than %d bytes", limit), Hint: "raise http_max_size of the artifact block in the node's configuration"}
}

// open requests a file, and returns the body of a successful answer.
func open(ctx context.Context, r *Request, location string, limit int64) (io.ReadCloser, error) {
	req, err := newRequest(ctx, r, location)
	if err != nil {
		return nil, err
	}
	resp, err := newClient(r).Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, &statusError{resp.StatusCode}
	}
	if resp.ContentLength > limit {
		resp.Body.Close()
		return nil, tooLarge(limit)
	}
	return resp.Body, nil
}

func newRequest(ctx context.Context, r *Request, location string) (*http.Request, error) {
	if r.Source.Scheme == api.ArtifactS3 && location == r.Source.URL {
		return signedRequest(ctx, r.Source, time.Now())
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, location, nil)
	if err != nil {
		return nil, refuse("the URL is not valid")
	}
	req.Header.Set("User-Agent", "reeve")
	from, err := url.Parse(r.Source.URL)
	if err != nil || from.Host != req.URL.Host || r.Source.Scheme != api.ArtifactHTTP {
		return req, nil // a file of checksums elsewhere must not see the headers
	}
	for name, value := range r.Headers {
		if http.CanonicalHeaderKey(name) == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	return req, nil
}
