// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nelson

import (
	"net/http"
	"net/url"
	"strings"
)

// prefix begins the paths of the dialect. Nelson's own paths would collide with those of Reeve.
const prefix = "/nelson"

// Claims reports whether a path is one of the dialect's.
func Claims(u *url.URL) bool {
	path := u.EscapedPath()
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

// IsLogin reports whether a request makes a session of a token. It neither checks the token nor
// needs one.
func IsLogin(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.EscapedPath() == prefix+"/auth/github"
}

// cut returns the segments of a path below the prefix, unescaped. It reports false for
// a path that is not the dialect's.
func cut(u *url.URL) ([]string, bool) {
	if !Claims(u) {
		return nil, false
	}
	segments := strings.Split(strings.TrimPrefix(strings.TrimPrefix(u.EscapedPath(), prefix), "/"), "/")
	for i, s := range segments {
		plain, err := url.PathUnescape(s)
		if err != nil {
			return nil, false
		}
		segments[i] = plain
	}
	return segments, true
}
