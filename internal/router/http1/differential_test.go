// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"net/http"
	"testing"
)

// stricterRequests names the reasons for which this package rejects requests that
// net/http accepts, and why it does.
var stricterRequests = map[string]string{
	"CONNECT is for proxies that clients are set up to use":           "routes lead to instances, not to addresses that clients choose",
	"HTTP/1.0 has no transfer-encoding":                               "net/http ignores the field, other servers obey it",
	"a field after the body may only be in a head":                    "some servers merge trailers into the head",
	"a header field has no valid name":                                "net/http joins continued lines, and tolerates spaces in and before the colon",
	"a line does not end with CR LF":                                  "net/http ends lines with LF alone, some servers do not",
	"content-length is not one number":                                "net/http accepts repeated equal values",
	"only HTTP/1.1, HTTP/1.0 and HTTP/2 are spoken here":              "http.ReadRequest leaves the version to its caller",
	"the chunked body is not valid":                                   "net/http accepts spaces after the size, LF alone, and long extensions",
	"the connection fields name too many others":                      "each name costs a search",
	"the host is not a name with a port":                              "http.ReadRequest does not check the host, on which the route depends",
	"the only expectation that can be met is 100-continue":            "http.ReadRequest leaves expectations to its caller",
	"the request line is not METHOD TARGET HTTP/1.1":                  "net/http accepts a fragment, which no client may send",
	"the target has no path":                                          "servers complete such a target differently",
	"the target is not a path":                                        "net/http accepts any scheme, and * with any method",
	"the target's host is not a name with a port":                     "net/http accepts users, empty hosts and more characters",
	"the trailers after the body are not valid, or larger than 4 KiB": "net/http accepts LF alone, continued lines and spaces before the colon",
	"there are both content-length and transfer-encoding":             "the classic disagreement: net/http drops the length",
	"there is no host":                                                "http.ReadRequest leaves the host to its caller",
	"transfer-encoding is not chunked alone":                          "net/http joins continued lines",
}

// stricterResponses does the same for responses.
var stricterResponses = map[string]string{
	"HTTP/1.0 has no transfer-encoding":                               "net/http ignores the field, other clients obey it",
	"a field after the body may only be in a head":                    "some clients merge trailers into the head",
	"a header field has no valid name":                                "net/http joins continued lines, and tolerates spaces in and before the colon",
	"content-length is not one number":                                "net/http ignores the length of a chunked body",
	"it does not begin with HTTP/1.1 and a status":                    "net/http accepts other versions, and several spaces",
	"its status has control characters":                               "clients end the reason at different characters",
	"its status is not a number from 100 to 599":                      "clients treat other values differently",
	"the chunked body is not valid":                                   "net/http accepts spaces after the size, LF alone, and long extensions",
	"the connection fields name too many others":                      "each name costs a search",
	"the trailers after the body are not valid, or larger than 4 KiB": "net/http accepts LF alone, continued lines and spaces before the colon",
	"transfer-encoding is not chunked alone":                          "net/http joins continued lines",
}

// This package accepts less than net/http, never more, and understands what it
// accepts in the same way.
func TestCorpusAgainstNetHTTP(t *testing.T) {
	t.Run("requests", func(t *testing.T) {
		c := comparison{t: t, stricter: stricterRequests, used: map[string]bool{}}
		for _, e := range requests() {
			ours, err := readRequest([]byte(e.text))
			theirs, theirErr := readRequestByNetHTTP([]byte(e.text))
			c.compare(e.name, ours, theirs, err, theirErr)
		}
		c.done(600)
	})
	t.Run("responses", func(t *testing.T) {
		c := comparison{t: t, stricter: stricterResponses, used: map[string]bool{}}
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			for _, e := range responses() {
				ours, err := readResponse([]byte(e.text), method)
				theirs, theirErr := readResponseByNetHTTP([]byte(e.text), method)
				c.compare(method+" "+e.name, ours, theirs, err, theirErr)
			}
		}
		c.done(700)
	})
}

// A comparison counts the results of a corpus.
type comparison struct {
	t                        *testing.T
	stricter                 map[string]string
	used                     map[string]bool
	accepted, refused, fewer int
}

func (c *comparison) compare(name string, ours, theirs *reading, err, theirErr error) {
	c.t.Helper()
	switch {
	case err == nil && theirErr != nil:
		c.t.Errorf("%s: accepted, but net/http rejects it: %v", name, theirErr)
	case err == nil:
		c.accepted++
		if d := difference(ours, theirs); d != "" {
			c.t.Errorf("%s: (-ours +net/http)\n%s", name, d)
		}
	case theirErr != nil:
		c.refused++
	default:
		c.fewer++
		if c.used[err.Error()] = true; c.stricter[err.Error()] == "" {
			c.t.Errorf("%s: net/http accepts it, and the reason for rejecting it is not listed: %v", name, err)
		}
	}
}

// done checks that the corpus exercises acceptance too, and that each listed
// difference exists.
func (c *comparison) done(least int) {
	c.t.Helper()
	c.t.Logf("%d accepted by both, %d rejected by both, %d rejected by this package alone", c.accepted, c.refused, c.fewer)
	if c.accepted < least {
		c.t.Errorf("only %d messages are accepted, want %d", c.accepted, least)
	}
	for reason := range c.stricter {
		if !c.used[reason] {
			c.t.Errorf("no message of the corpus is rejected by this package alone because %q: remove it from the list", reason)
		}
	}
}
