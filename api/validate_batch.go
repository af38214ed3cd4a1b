// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
)

// BatchProblems returns the errors in fields that only batch jobs may have: max_pending,
// max_rejections and the callback. It joins all errors of one key into one problem.
func (j *Job) BatchProblems() (all []Problem) {
	add := func(at any, key, format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		if i := slices.IndexFunc(all, func(p Problem) bool { return p.At == at && p.Key == key }); i >= 0 {
			all[i].Text += "; " + text
			return
		}
		all = append(all, Problem{at, key, text})
	}
	only := func(at any, what string) {
		if j.Type != JobTypeBatch {
			key := what
			if at != j {
				key = ""
			}
			add(at, key, "%s: is for batch jobs only: the instances of a %s job do not end, or belong to their nodes", what, typeInWords(j.Type))
		}
	}
	if j.MaxPending != nil {
		only(j, "max_pending")
		if *j.MaxPending <= 0 {
			add(j, "max_pending", "max_pending %s: must be positive: how long an instance may wait for a place", *j.MaxPending)
		}
	}
	if n := j.MaxRejections; n != nil {
		only(j, "max_rejections")
		if *n < 0 || *n > maxRejections {
			add(j, "max_rejections", "max_rejections %d: must be 0 to %d: how often nodes may refuse to run an instance", *n, maxRejections)
		}
	}
	if j.Callback != nil {
		only(j.Callback, "callback")
		j.Callback.validate(func(key, format string, args ...any) { add(j.Callback, key, "callback: "+format, args...) })
	}
	return all
}

// maxRejections bounds max_rejections.
const maxRejections = 100

func typeInWords(jobType string) string {
	if jobType == "" {
		return JobTypeService
	}
	return jobType
}

// Bounds of a callback's fields.
const (
	maxCallbackURL     = 2048
	maxCallbackHeaders = 32
	maxCallbackText    = 8 << 10 // of a header's value and of the secret
)

func (c *JobCallback) validate(add func(key, format string, args ...any)) {
	switch u, err := url.Parse(c.URL); {
	case c.URL == "":
		add("url", "url is missing: where the completion is posted to")
	case err != nil:
		add("url", "url %q: is not a URL", c.URL)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		add("url", "url %q: must begin with http:// or https:// and name a host", c.URL)
	case len(c.URL) > maxCallbackURL:
		add("url", "url has %d bytes; at most %d are allowed", len(c.URL), maxCallbackURL)
	case u.User != nil:
		add("url", "url: must not hold a user or password, which are shown with it: use a header")
	case u.Fragment != "":
		add("url", "url %q: a part after # is not sent: leave it out", c.URL)
	}
	if len(c.Headers) > maxCallbackHeaders {
		add("headers", "headers: there are %d; at most %d are allowed", len(c.Headers), maxCallbackHeaders)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		value := c.Headers[name]
		switch {
		case !isHeaderName(name):
			add("headers", "header %q: is not a header's name: use letters, digits and -", name)
		case isOwnHeader(name):
			add("headers", "header %q: is set by the servers", name)
		case len(value) > maxCallbackText || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			add("headers", "header %q: its value must be one line of at most %d bytes", name, maxCallbackText)
		}
	}
	if len(c.Secret) > maxCallbackText {
		add("secret", "secret has %d bytes; at most %d are allowed", len(c.Secret), maxCallbackText)
	}
	if d := c.GiveUpAfter; d != nil && (*d < time.Second || *d > MaxCallbackGiveUpAfter) {
		add("give_up_after", "give_up_after %s: must be 1s to %s", *d, MaxCallbackGiveUpAfter)
	}
}

func isHeaderName(s string) bool {
	return s != "" && len(s) <= maxNameLength && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// isOwnHeader reports whether a header is reserved for the servers.
func isOwnHeader(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains([]string{"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "te", "trailer", "upgrade"}, name) ||
		strings.HasPrefix(name, "reeve-callback-")
}
