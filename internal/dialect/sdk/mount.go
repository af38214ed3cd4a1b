// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// nouns are the first segments of a service's paths. They distinguish the dialect's
// paths from others below /v1/service/.
var nouns = []string{"plans", "plan", "pod", "configurations", "state", "endpoints", "artifacts", "debug", "health"}

// Claims reports whether a path is one of the dialect's.
func Claims(u *url.URL) bool {
	_, _, ok := cut(u)
	return ok
}

// cut splits a path into the service and the rest, and unescapes each segment:
//
//	/v1/multi/NAME/[v1/]plans/deploy
//	/v1/service/NAME/[v1/]plans/deploy
//	/service/NAME/v1/plans/deploy
//
// Names below /service/ may contain slashes.
func cut(u *url.URL) (service string, rest []string, ok bool) {
	segments := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	for i, s := range segments {
		plain, err := url.PathUnescape(s)
		if err != nil {
			return "", nil, false
		}
		segments[i] = plain
	}
	switch {
	case len(segments) >= 4 && segments[0] == "v1" && (segments[1] == "multi" || segments[1] == "service"):
		rest = segments[3:]
		if isVersion(rest[0]) {
			rest = rest[1:]
		}
		return segments[2], rest, segments[2] != "" && len(rest) > 0 && slices.Contains(nouns, rest[0])
	case segments[0] == "service":
		for i := 2; i+1 < len(segments); i++ {
			if isVersion(segments[i]) && slices.Contains(nouns, segments[i+1]) {
				service = strings.Join(segments[1:i], "/")
				return service, segments[i+1:], service != ""
			}
		}
	}
	return "", nil, false
}

// Needs returns the capability that a request needs in the namespace of its service; "": the request
// reaches beyond a namespace, or shows more than the API does.
func Needs(r *http.Request) string {
	_, rest, ok := cut(r.URL)
	if !ok {
		return ""
	}
	read := r.Method == http.MethodGet
	switch rest[0] {
	case "plans", "plan":
		if !read {
			return "operate-plan"
		}
		return "read-job"
	case "pod":
		if !read {
			return "alloc-lifecycle"
		}
		return "read-job"
	case "endpoints", "health", "configurations":
		if read {
			return "read-job"
		}
	}
	return ""
}

func isVersion(segment string) bool { return segment == "v1" || segment == "v2" }
