// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/reeve-run/reeve/api"
)

// emptyHash is the SHA-256 of a request without a body.
const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// signedRequest makes the request for an object. It is not signed if the artifact has no
// credentials: the object is public then.
func signedRequest(ctx context.Context, s *api.ArtifactSource, now time.Time) (*http.Request, error) {
	u, err := url.Parse(s.Endpoint)
	if err != nil {
		return nil, refuse("the endpoint is not a URL")
	}
	key := escapeKey(s.Key)
	if s.PathStyle {
		key = s.Bucket + "/" + key
	} else {
		u.Host = s.Bucket + "." + u.Host
	}
	u.Path, u.RawPath = "/"+unescape(key), "/"+key
	if s.Version != "" {
		u.RawQuery = url.Values{"versionId": {s.Version}}.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, refuse("bucket and key make no valid URL")
	}
	req.Header.Set("User-Agent", "reeve")
	req.Header.Set("X-Amz-Content-Sha256", emptyHash)
	if s.AccessKey == "" {
		return req, nil
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	credentials := aws.Credentials{AccessKeyID: s.AccessKey, SecretAccessKey: s.SecretKey, SessionToken: s.AWSToken}
	return req, signer.SignHTTP(ctx, credentials, req, emptyHash, "s3", s.Region, now)
}

// escapeKey escapes a key as S3's signatures expect: all but unreserved characters and slashes.
func escapeKey(key string) string {
	parts := strings.Split(key, "/")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(url.QueryEscape(p), "+", "%20")
	}
	return strings.Join(parts, "/")
}

func unescape(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}
