// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"bufio"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/reeve-run/reeve/api"
)

func newHash(algorithm string) hash.Hash {
	switch algorithm {
	case "md5":
		return md5.New()
	case "sha1":
		return sha1.New()
	case "sha512":
		return sha512.New()
	}
	return sha256.New()
}

// isStrong reports whether a checksum identifies one file. An attacker can make two files with
// one MD5 or SHA-1, so that one task's artifact would reach another.
func isStrong(c api.ArtifactChecksum) bool {
	return c.Algorithm == "sha256" || c.Algorithm == "sha512"
}

// maxChecksums bounds a file of checksums, in bytes.
const maxChecksums = 1 << 20

// readChecksums fetches a file of checksums and finds the source's file in it.
func readChecksums(ctx context.Context, r *Request) (api.ArtifactChecksum, error) {
	location := r.Source.Checksum.URL
	fail := func(format string, args ...any) (api.ArtifactChecksum, error) {
		return api.ArtifactChecksum{}, &Failure{Text: "read the checksums of " + Redact(location) + ": " + fmt.Sprintf(format, args...),
			Hint: "check the option checksum"}
	}
	body, err := open(ctx, r, location, maxChecksums)
	if err != nil {
		f := explain(r.Source, err)
		return api.ArtifactChecksum{}, &Failure{Text: fmt.Sprintf("read the checksums of %s: %v", Redact(location), cause(err)), Hint: f.Hint, Temporary: f.Temporary}
	}
	defer body.Close()
	name := r.Source.URL
	if u, err := url.Parse(name); err == nil {
		name = path.Base(u.Path)
	}
	digest, err := findChecksum(io.LimitReader(body, maxChecksums), name)
	if err != nil {
		return fail("%v", err)
	}
	for algorithm, digits := range map[string]int{"md5": 32, "sha1": 40, "sha256": 64, "sha512": 128} {
		if len(digest) == digits && strings.Trim(digest, "0123456789abcdef") == "" {
			return api.ArtifactChecksum{Algorithm: algorithm, Hex: digest}, nil
		}
	}
	return fail("the entry of %s is no digest", api.Printable(name, 60))
}

// findChecksum reads the lines of sha256sum and of BSD's tools, or a single digest.
func findChecksum(r io.Reader, name string) (string, error) {
	lines := bufio.NewScanner(r)
	var only []string
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if _, rest, ok := strings.Cut(line, " ("); ok {
			if of, digest, ok := strings.Cut(rest, ") = "); ok && path.Base(of) == name {
				return strings.ToLower(digest), nil
			}
			continue
		}
		fields := strings.Fields(line)
		switch {
		case len(fields) == 1:
			only = append(only, fields[0])
		case len(fields) == 2 && path.Base(strings.TrimPrefix(fields[1], "*")) == name:
			return strings.ToLower(fields[0]), nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", err
	}
	if len(only) == 1 {
		return strings.ToLower(only[0]), nil
	}
	return "", fmt.Errorf("it has no line for %s", api.Printable(name, 60))
}
