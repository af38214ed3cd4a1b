// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// signatureOf computes the signature that S3 expects of a request, by the published algorithm.
func signatureOf(r *http.Request, secret, region string) string {
	var signed string
	for part := range strings.SplitSeq(r.Header.Get("Authorization"), ", ") {
		if rest, ok := strings.CutPrefix(part, "SignedHeaders="); ok {
			signed = rest
		}
	}
	var headers strings.Builder
	for name := range strings.SplitSeq(signed, ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, value)
	}
	canonical := strings.Join([]string{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, headers.String(), signed, r.Header.Get("X-Amz-Content-Sha256")}, "\n")
	at := r.Header.Get("X-Amz-Date")
	if len(at) < 8 {
		return ""
	}
	scope := at[:8] + "/" + region + "/s3/aws4_request"
	text := fmt.Sprintf("AWS4-HMAC-SHA256\n%s\n%s\n%x", at, scope, sha256.Sum256([]byte(canonical)))
	key := []byte("AWS4" + secret)
	for _, part := range []string{at[:8], region, "s3", "aws4_request", text} {
		m := hmac.New(sha256.New, key)
		m.Write([]byte(part))
		key = m.Sum(nil)
	}
	return fmt.Sprintf("%x", key)
}

func TestS3RequestsAreSigned(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch want := signatureOf(r, "secret", "eu-central-1"); {
		case !strings.HasSuffix(r.Header.Get("Authorization"), "Signature="+want):
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path != "/bucket/a b/ü+x.txt":
			w.WriteHeader(http.StatusNotFound)
		default:
			fmt.Fprintf(w, "object %s %s", r.URL.Query().Get("versionId"), r.Header.Get("X-Amz-Security-Token"))
		}
	}))
	defer s.Close()
	f := newFetcher(t, Config{})
	options := map[string]string{"aws_access_key_id": "AKIA", "aws_access_key_secret": "secret", "aws_access_token": "token", "region": "eu-central-1", "version": "v7", "filename": "o"}
	a := &api.Artifact{Source: "s3::" + s.URL + "/bucket/a%20b/%C3%BC+x.txt", Options: options}
	dir, err := place(t, f, a)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, dir, "o"); got != "object v7 token" {
		t.Errorf("the object is %q", got)
	}
	options["aws_access_key_secret"] = "wrong"
	if _, err = place(t, f, a); err == nil || !strings.Contains(err.Error(), "check bucket, key and region") {
		t.Errorf("a wrong secret: %v", err)
	}
}

// TestS3UsesTheAgentsCredentialsOnlyIfTold lets the agent's environment hold credentials.
func TestS3UsesTheAgentsCredentialsOnlyIfTold(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIA")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	signed := make(chan bool, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		signed <- r.Header.Get("Authorization") != ""
	}))
	defer s.Close()
	for _, told := range []bool{false, true} {
		c := Config{}
		if told {
			c.Environment = []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
		}
		if _, err := place(t, newFetcher(t, c), &api.Artifact{Source: "s3::" + s.URL + "/bucket/x"}); err != nil {
			t.Fatal(err)
		}
		if got := <-signed; got != told {
			t.Errorf("told to use the agent's credentials: %t, used: %t", told, got)
		}
	}
}

func TestS3HostsOfBothStyles(t *testing.T) {
	for source, want := range map[string]string{
		"s3::https://s3.eu-central-1.amazonaws.com/shop-releases/api.tgz": "https://shop-releases.s3.eu-central-1.amazonaws.com/api.tgz",
		"shop.s3.amazonaws.com/dir/api.tgz":                               "https://shop.s3.us-east-1.amazonaws.com/dir/api.tgz",
		"shop.s3-eu-west-1.amazonaws.com/api.tgz":                         "https://shop.s3.eu-west-1.amazonaws.com/api.tgz",
		"s3://my.dotted.bucket/api.tgz?region=eu-west-1":                  "https://s3.eu-west-1.amazonaws.com/my.dotted.bucket/api.tgz",
		"s3::http://minio.internal:9000/bucket/a/b.tgz":                   "http://minio.internal:9000/bucket/a/b.tgz",
	} {
		s, err := api.ParseArtifact(&api.Artifact{Source: source})
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		r, err := signedRequest(t.Context(), s, time.Unix(0, 0))
		if err != nil || r.URL.String() != want {
			t.Errorf("%s requests %s, %v, want %s", source, r.URL, err, want)
		}
	}
}
