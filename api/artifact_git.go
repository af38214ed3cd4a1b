// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// parseGit checks the options of a repository. Nothing in them may look like an option of git's
// command line, because git takes these from any position.
func (s *ArtifactSource) parseGit(options map[string]string) error {
	if s.Mode == ArtifactModeFile {
		return errors.New("mode \"file\": a repository is a directory; use mode \"any\" or \"dir\"")
	}
	if err := s.checkRepository(); err != nil {
		return err
	}
	if s.Ref = options["ref"]; !isRef(s.Ref) {
		return fmt.Errorf("options: ref %q: must be a branch, a tag or a commit", Printable(s.Ref, 60))
	}
	if text := options["depth"]; text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 1_000_000 {
			return fmt.Errorf("options: depth %q: must be a number of commits", Printable(text, 40))
		}
		s.Depth = n
	}
	if s.SSHKey = options["sshkey"]; s.SSHKey != "" {
		if _, err := base64.StdEncoding.DecodeString(s.SSHKey); err != nil {
			return errors.New("options: sshkey: must be a private key in base64, as of base64encode(...)")
		}
		if strings.HasPrefix(s.URL, "http") {
			return errors.New("options: sshkey: the source is not fetched over ssh; remove it")
		}
	}
	return nil
}

func (s *ArtifactSource) checkRepository() error {
	host, user, location := "", "", ""
	if isSCP(s.URL) {
		user, host, _ = strings.Cut(s.URL, "@")
		host, location, _ = strings.Cut(host, ":")
	} else if u, err := url.Parse(s.URL); err == nil {
		host, user, location = u.Hostname(), u.User.Username(), u.Path
	}
	for _, part := range []string{host, user, strings.TrimPrefix(location, "/")} {
		if strings.HasPrefix(part, "-") {
			return errors.New("source: user, host and path of a repository must not start with a dash")
		}
	}
	if host == "" || location == "" || location == "/" {
		return errors.New("source names no repository, as in git::https://HOST/PATH.git")
	}
	return nil
}

// isRef reports whether a text can be a branch, tag or commit; "" is the default branch.
func isRef(ref string) bool {
	return len(ref) <= 255 && !strings.HasPrefix(ref, "-") && !strings.HasPrefix(ref, "+") && !strings.Contains(ref, "..") && !strings.HasPrefix(ref, "/") &&
		!strings.HasSuffix(ref, "/") && !strings.HasSuffix(ref, ".lock") && !strings.HasSuffix(ref, ".") && !strings.Contains(ref, "//") &&
		!strings.ContainsFunc(ref, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._/+-@#", r)
		})
}
