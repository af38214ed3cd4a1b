// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func TestReferencesAreNormalized(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	for text, want := range map[string]string{
		"busybox":                             "docker.io/library/busybox:latest",
		"busybox:1.36":                        "docker.io/library/busybox:1.36",
		"team/app":                            "docker.io/team/app:latest",
		"docker.io/library/busybox":           "docker.io/library/busybox:latest",
		"index.docker.io/busybox":             "docker.io/library/busybox:latest",
		"busybox@" + digest:                   "docker.io/library/busybox@" + digest,
		"busybox:1.36@" + digest:              "docker.io/library/busybox@" + digest,
		"registry.test/a/b/c:v1":              "registry.test/a/b/c:v1",
		"registry.test:5000/app":              "registry.test:5000/app:latest",
		"localhost/app":                       "localhost/app:latest",
		"localhost:5000/app:1":                "localhost:5000/app:1",
		"":                                    "",
		"UPPER":                               "",
		"a b":                                 "",
		"app:":                                "",
		"app:x y":                             "",
		"app@sha256:short":                    "",
		"app@md5:" + strings.Repeat("a", 32):  "",
		"../etc/passwd":                       "",
		"registry.test/../../app":             "",
		"app:" + strings.Repeat("t", 200):     "",
		"registry.test/app:1/../../v2/secret": "",
	} {
		ref, err := ParseReference(text)
		if (err != nil) != (want == "") || err == nil && ref.String() != want {
			t.Errorf("%q is %s (%v), want %q", text, ref, err, want)
		}
	}
}

func TestTheBestVariantIsChosen(t *testing.T) {
	parse := func(text string) v1.Platform {
		p := strings.Split(text+"//", "/")
		return v1.Platform{OS: p[0], Architecture: p[1], Variant: p[2]}
	}
	for _, c := range []struct {
		want, offered string
		best          int
	}{
		{"linux/amd64", "linux/arm64 linux/amd64 unknown/unknown", 1},
		{"linux/amd64", "linux/amd64/v3 linux/amd64", 1},
		{"linux/amd64/v3", "linux/amd64 linux/amd64/v2 linux/amd64/v4", 1},
		{"linux/arm64", "linux/arm/v7 linux/arm64/v8", 1},
		{"linux/arm64/v8", "linux/arm64", 0},
		{"linux/arm64", "linux/arm64/v9", -1},
		{"linux/arm/v6", "linux/arm/v7 linux/arm/v5 linux/arm/v6", 2},
		{"linux/arm", "linux/arm/v5 linux/arm/v7", 1},
		{"linux/amd64", "windows/amd64 darwin/amd64", -1},
		{"linux/riscv64", "linux/riscv64", 0},
	} {
		var index []v1.Descriptor
		for o := range strings.FieldsSeq(c.offered) {
			p := parse(o)
			index = append(index, v1.Descriptor{Platform: &p})
		}
		best, _ := choose(index, parse(c.want))
		if c.best < 0 && best != nil || c.best >= 0 && best != &index[c.best] {
			t.Errorf("%s of %s: chose %v", c.want, c.offered, best)
		}
	}
}

// roundTrip is a transport made of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestRegistriesLeadNowhereElse answers requests with redirects, and records which arrive.
func TestRegistriesLeadNowhereElse(t *testing.T) {
	for name, c := range map[string]struct {
		image, to string
		insecure  []string
		want      string
	}{
		"a service of the node":               {"registry.test/app", "https://127.0.0.1:4646/v1/agent", nil, "a service of the node"},
		"its IPv6 address":                    {"registry.test/app", "https://[::1]/x", nil, "a service of the node"},
		"its name":                            {"registry.test/app", "https://LOCALHOST/x", nil, "a service of the node"},
		"the service of the cloud":            {"registry.test/app", "https://169.254.169.254/latest", nil, "a service of the node"},
		"no TLS":                              {"registry.test/app", "http://cdn.test/x", nil, "without TLS"},
		"a private address without TLS":       {"10.1.2.3/app", "", nil, "10.1.2.3"},
		"an endless circle":                   {"registry.test/app", "https://registry.test/x", nil, "10 times"},
		"a private address, declared as such": {"10.1.2.3/app", "", []string{"10.1.2.3"}, "404"},
	} {
		client := NewClient(Options{Insecure: c.insecure, Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
			if host := req.URL.Hostname(); isLocal(host) || req.URL.Scheme == "http" && len(c.insecure) == 0 {
				t.Errorf("%s: a request reached %s", name, req.URL)
			}
			if req.URL.Scheme == "https" && strings.HasPrefix(req.URL.Host, "10.") {
				return nil, fatal("no TLS here")
			}
			resp := &http.Response{StatusCode: 404, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: req}
			if strings.HasSuffix(req.URL.Path, "/v2/") {
				resp.StatusCode = 200
			} else if c.to != "" {
				resp.StatusCode = 302
				resp.Header.Set("Location", c.to)
			}
			return resp, nil
		})})
		ref, err := ParseReference(c.image)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Repository(ref, Credentials{User: "ada", Password: "s3cret"}).Manifest(t.Context(), "latest")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: error = %v, want %q", name, err, c.want)
		}
	}
}

func TestNetworkErrorsBecomeAdvice(t *testing.T) {
	ref, err := ParseReference("registry.test/app:1")
	if err != nil {
		t.Fatal(err)
	}
	for want, err := range map[string]error{
		"trusted certificates":    x509.UnknownAuthorityError{},
		"name servers":            &net.DNSError{Err: "no such host", Name: "registry.test", IsNotFound: true},
		"routes and firewalls":    &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EHOSTUNREACH)},
		"its address, port":       &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
		"connection to registry":  fmt.Errorf("read: %w", errStalled),
		"pull registry.test/app:": errors.New("anything"),
	} {
		if got := Explain(ref, err).Error(); !strings.Contains(got, want) {
			t.Errorf("%v: %s, want %q", err, got, want)
		}
	}
	if isTemporary(&net.DNSError{IsNotFound: true}) || isTemporary(x509.HostnameError{Certificate: &x509.Certificate{}}) || !isTemporary(io.ErrUnexpectedEOF) {
		t.Error("a permanent failure is tried again, or a temporary one is not")
	}
}
