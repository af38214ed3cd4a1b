// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Values of ArtifactSource.Scheme.
const (
	ArtifactHTTP = "http" // also https: the URL says which
	ArtifactS3   = "s3"
	ArtifactGit  = "git"
)

// Values of Artifact.Mode.
const (
	ArtifactModeAny  = "any"  // an archive is unpacked into the destination, other files are placed in it
	ArtifactModeFile = "file" // the destination is the file
	ArtifactModeDir  = "dir"  // an archive or a repository is unpacked into the destination
)

// An ArtifactSource is the validated form of an artifact's source, mode and options.
type ArtifactSource struct {
	Scheme   string // one of ArtifactHTTP, ArtifactS3 and ArtifactGit
	URL      string // absolute, without options; of git it may be user@host:path
	Subdir   string // the only part of the archive or repository to use; "": all of it
	Mode     string
	Archive  string // one of ArtifactArchives; "": the file is not unpacked
	Filename string // of a file that is not unpacked
	Checksum ArtifactChecksum

	Ref    string // of git; "": the default branch
	Depth  int    // of git; 0: only the commit of Ref
	SSHKey string // of git: a private key in base64

	Bucket, Key, Region, Endpoint  string // of s3; Endpoint has a scheme
	PathStyle                      bool   // of s3: the bucket is in the path and not in the host
	Version                        string // of s3: version of the object
	AccessKey, SecretKey, AWSToken string // of s3; "": the request is not signed
}

// An ArtifactChecksum is the expected digest of the fetched file. The zero value expects none.
type ArtifactChecksum struct {
	Algorithm string // md5, sha1, sha256 or sha512
	Hex       string // in lower case
	URL       string // of a file of digests, instead of the others
}

// IsSet reports whether a digest is expected.
func (c ArtifactChecksum) IsSet() bool { return c != ArtifactChecksum{} }

// ArtifactArchives lists the extensions of archives, without their dots. Longer ones come first.
var ArtifactArchives = []string{
	"tar.gz", "tar.bz2", "tar.xz", "tar.zst", "tar.zstd", "tgz", "tbz2", "txz", "tzst", "tar", "zip", "gz", "bz2", "xz", "zst",
}

// archiveOf returns the extension of an archive's name; "" for other files.
func archiveOf(name string) string {
	for _, ext := range ArtifactArchives {
		if strings.HasSuffix(strings.ToLower(name), "."+ext) {
			return ext
		}
	}
	return ""
}

// artifactSchemes says what to do about the schemes that a source must not have.
var artifactSchemes = map[string]string{
	"hg":   "Mercurial is not supported: publish the files over https, or use git",
	"gcs":  "the gcs scheme is not supported: use the https URL of the object, with an Authorization header",
	"gs":   "the gs scheme is not supported: use the https URL of the object, with an Authorization header",
	"file": "files of the node are not artifacts: use a volume, or publish the file over https",
	"ext":  "git's ext transport runs commands and is not supported: use https or ssh",
	"ftp":  "ftp is not supported: publish the file over https",
}

// Options by scheme.
var artifactOptions = map[string][]string{
	ArtifactHTTP: {"archive", "checksum", "filename"},
	ArtifactS3:   {"archive", "aws_access_key_id", "aws_access_key_secret", "aws_access_token", "checksum", "filename", "region", "version"},
	ArtifactGit:  {"depth", "ref", "sshkey"},
}

// maxArtifactText bounds a source and each option, in bytes.
const maxArtifactText = 16 << 10

// ParseArtifact validates an artifact whose variables have been replaced. Its errors start with the
// name of the field.
func ParseArtifact(a *Artifact) (*ArtifactSource, error) {
	s, options, err := splitSource(a)
	if err != nil {
		return nil, err
	}
	allowed := artifactOptions[s.Scheme]
	for _, name := range slices.Sorted(maps.Keys(options)) {
		switch {
		case len(options[name]) > maxArtifactText:
			return nil, fmt.Errorf("options: %s has more than %d bytes", name, maxArtifactText)
		case !slices.Contains(allowed, name):
			return nil, fmt.Errorf("options: %s is unknown for a source of the scheme %s; known: %s", name, s.Scheme, strings.Join(allowed, ", "))
		}
	}
	switch s.Mode = a.Mode; s.Mode {
	case "":
		s.Mode = ArtifactModeAny
	case ArtifactModeAny, ArtifactModeFile, ArtifactModeDir:
	default:
		return nil, fmt.Errorf("mode %q: must be any, file or dir", a.Mode)
	}
	for _, name := range slices.Sorted(maps.Keys(a.Headers)) {
		if !isHeaderName(name) || strings.ContainsAny(a.Headers[name], "\r\n\x00") || len(a.Headers[name]) > maxArtifactText {
			return nil, fmt.Errorf("headers: %q is not a valid header", Printable(name, 60))
		}
		if s.Scheme != ArtifactHTTP {
			return nil, fmt.Errorf("headers: a source of the scheme %s takes no headers; remove %s", s.Scheme, name)
		}
	}
	switch s.Scheme {
	case ArtifactGit:
		return s, s.parseGit(options)
	case ArtifactS3:
		err = s.parseS3(options)
	}
	if err != nil {
		return nil, err
	}
	return s, s.parseFile(a, options)
}

// splitSource recognizes the scheme of a source, and separates subdirectory and options from it.
func splitSource(a *Artifact) (*ArtifactSource, map[string]string, error) {
	text := a.Source
	switch {
	case text == "":
		return nil, nil, errors.New("source is missing: name a URL, as in source = \"https://example.com/app.tar.gz\"")
	case len(text) > maxArtifactText:
		return nil, nil, fmt.Errorf("source has more than %d bytes", maxArtifactText)
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return nil, nil, errors.New("source contains a space or a control character: write it as %20")
	}
	s := &ArtifactSource{}
	forced, rest, isForced := strings.Cut(text, "::")
	if !isForced || strings.ContainsAny(forced, "/?:@.") {
		forced, rest = "", text
	}
	if forced == "" {
		forced, rest = detectSource(rest)
	}
	if why, refused := artifactSchemes[strings.ToLower(forced)]; refused {
		return nil, nil, fmt.Errorf("source: %s", why)
	}
	options := maps.Clone(a.Options)
	if options == nil {
		options = map[string]string{}
	}
	if forced == ArtifactGit && isSCP(rest) {
		s.Scheme = ArtifactGit
		rest, query, _ := strings.Cut(rest, "?")
		s.URL, s.Subdir = splitSubdir(rest)
		values, err := url.ParseQuery(query)
		if err != nil {
			return nil, nil, errors.New("source: the part after ? is not a query")
		}
		takeOptions(values, artifactOptions[ArtifactGit], options)
		return s, options, checkSubdir(s)
	}
	u, err := url.Parse(rest)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return nil, nil, errors.New("source is not a URL: write scheme and host, as in \"https://example.com/app.tar.gz\"")
	}
	scheme := strings.ToLower(u.Scheme)
	if why, refused := artifactSchemes[scheme]; refused {
		return nil, nil, fmt.Errorf("source: %s", why)
	}
	switch {
	case (forced == "" || forced == "http" || forced == "https") && (scheme == "http" || scheme == "https"):
		s.Scheme = ArtifactHTTP
	case forced == ArtifactGit && (scheme == "http" || scheme == "https" || scheme == "ssh"):
		s.Scheme = ArtifactGit
	case forced == ArtifactS3 && (scheme == "http" || scheme == "https"), forced == "" && scheme == ArtifactS3:
		s.Scheme = ArtifactS3
	default:
		return nil, nil, fmt.Errorf("source: the scheme %q is not supported: use http, https, s3 or git, as in git::https://HOST/REPOSITORY", Printable(strings.Trim(forced+"::"+scheme, ":"), 40))
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, nil, errors.New("source: the part after ? is not a query")
	}
	if takeOptions(values, artifactOptions[s.Scheme], options) {
		u.RawQuery = values.Encode()
	}
	u.Fragment = ""
	var subdir string
	if u.Path, subdir = splitSubdir(u.Path); subdir != "" {
		u.RawPath = ""
	}
	s.URL, s.Subdir = u.String(), subdir
	return s, options, checkSubdir(s)
}

// takeOptions moves options from a query. Those of the options block win.
func takeOptions(values url.Values, names []string, options map[string]string) (taken bool) {
	for _, name := range names {
		if !values.Has(name) {
			continue
		}
		if _, written := options[name]; !written {
			options[name] = values.Get(name)
		}
		values.Del(name)
		taken = true
	}
	return taken
}

func checkSubdir(s *ArtifactSource) error {
	if s.Subdir != "" && (slices.Contains(strings.Split(s.Subdir, "/"), "..") || strings.ContainsAny(s.Subdir, "\\\x00:*?[")) {
		return errors.New("source: the directory after // must be a plain path in the archive or repository")
	}
	return nil
}

// splitSubdir separates "path//subdirectory".
func splitSubdir(p string) (rest, subdir string) {
	at := strings.Index(p, "//")
	if at <= 0 {
		return p, ""
	}
	if subdir = strings.Trim(path.Clean(p[at+2:]), "/"); subdir == "." {
		subdir = ""
	}
	return p[:at], subdir
}

// isSCP reports whether a source has git's short form user@host:path.
func isSCP(text string) bool {
	user, rest, hasUser := strings.Cut(text, "@")
	host, _, hasPath := strings.Cut(rest, ":")
	return hasUser && hasPath && user != "" && host != "" && !strings.ContainsAny(user, ":/?") && !strings.ContainsAny(host, "/?@")
}

// forges are hosts whose repositories a source may name without a scheme.
var forges = []string{"github.com", "gitlab.com", "bitbucket.org"}

// detectSource recognizes sources without a scheme.
func detectSource(text string) (forced, rest string) {
	if isSCP(text) {
		return ArtifactGit, text
	}
	if strings.Contains(text, "://") {
		return "", text
	}
	host, after, _ := strings.Cut(text, "/")
	if slices.Contains(forges, strings.ToLower(host)) {
		after, query, hasQuery := strings.Cut(after, "?")
		whole, subdir := splitSubdir(after)
		parts := strings.SplitN(whole, "/", 3)
		if len(parts) < 2 || parts[1] == "" {
			return "", text
		}
		if len(parts) == 3 && subdir == "" {
			subdir = parts[2]
		}
		u := "https://" + strings.ToLower(host) + "/" + parts[0] + "/" + strings.TrimSuffix(parts[1], ".git") + ".git"
		if subdir != "" {
			u += "//" + subdir
		}
		if hasQuery {
			u += "?" + query
		}
		return ArtifactGit, u
	}
	if bare, _, _ := strings.Cut(host, ":"); isAWSHost(bare) {
		return ArtifactS3, "https://" + text
	}
	return "", text
}

// parseFile checks the options of one file.
func (s *ArtifactSource) parseFile(a *Artifact, options map[string]string) error {
	u, err := url.Parse(s.URL)
	if err != nil {
		return errors.New("source is not a URL")
	}
	name := path.Base(u.Path)
	s.Archive = archiveOf(name)
	if want, set := options["archive"]; set {
		if on, err := strconv.ParseBool(want); err == nil && !on {
			s.Archive = ""
		} else if err != nil {
			if s.Archive = strings.TrimPrefix(want, "."); !slices.Contains(ArtifactArchives, s.Archive) {
				return fmt.Errorf("options: archive %q: must be false or one of %s", Printable(want, 40), strings.Join(ArtifactArchives, ", "))
			}
		}
	}
	if s.Filename = options["filename"]; s.Filename == "" {
		s.Filename = name
	} else if !isFileName(s.Filename) {
		return fmt.Errorf("options: filename %q: must be the name of a file, without slashes", Printable(s.Filename, 60))
	}
	if s.Archive == "" && !isFileName(s.Filename) && (s.Mode != ArtifactModeFile || a.Destination == "" || strings.HasSuffix(a.Destination, "/")) {
		return errors.New("source names no file: set options { filename = \"...\" }, or mode = \"file\" with a destination")
	}
	if s.Mode == ArtifactModeDir && !s.IsTree() {
		return fmt.Errorf("mode \"dir\": %s is not an archive; use mode \"any\", or name the archive's type in options { archive = \"zip\" }", Printable(name, 60))
	}
	if s.Subdir != "" && !s.IsTree() {
		return errors.New("source: only an archive or a repository has a directory after //")
	}
	s.Checksum, err = parseChecksum(options["checksum"])
	return err
}

// IsTree reports whether the source holds a tree of files, and not one file.
func (s *ArtifactSource) IsTree() bool {
	return s.Scheme == ArtifactGit || strings.HasPrefix(s.Archive, "t") || s.Archive == "zip"
}

func isFileName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= 255 && !strings.ContainsAny(name, "/\x00")
}

// checksumLengths holds the number of hexadecimal digits of each algorithm.
var checksumLengths = map[string]int{"md5": 32, "sha1": 40, "sha256": 64, "sha512": 128}

func parseChecksum(text string) (c ArtifactChecksum, err error) {
	if text == "" {
		return c, nil
	}
	algorithm, digits, named := strings.Cut(text, ":")
	if named && algorithm == "file" {
		u, err := url.Parse(digits)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return c, errors.New("options: checksum: file: needs the http or https URL of a file of checksums")
		}
		return ArtifactChecksum{URL: digits}, nil
	}
	if !named {
		digits, algorithm = text, ""
		for name, n := range checksumLengths {
			if n == len(text) {
				algorithm = name
			}
		}
	}
	n, known := checksumLengths[algorithm]
	digits = strings.ToLower(digits)
	if !known || len(digits) != n || strings.Trim(digits, "0123456789abcdef") != "" {
		return c, fmt.Errorf("options: checksum %q: must be md5, sha1, sha256 or sha512, a colon and the digest in hexadecimal digits, or file: and a URL", Printable(text, 80))
	}
	return ArtifactChecksum{Algorithm: algorithm, Hex: digits}, nil
}
