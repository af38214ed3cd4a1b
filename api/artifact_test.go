// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"
)

func TestParseArtifactRecognizesSources(t *testing.T) {
	for source, want := range map[string]ArtifactSource{
		"https://h/a/app.tar.gz//bin?x=1&archive=tgz": {Scheme: "http", URL: "https://h/a/app.tar.gz?x=1", Subdir: "bin", Archive: "tgz"},
		"https://h/app":                                   {Scheme: "http", URL: "https://h/app"},
		"http::https://h/app":                             {Scheme: "http", URL: "https://h/app"},
		"github.com/x/y":                                  {Scheme: "git", URL: "https://github.com/x/y.git"},
		"github.com/x/y/sub/dir?ref=v1":                   {Scheme: "git", URL: "https://github.com/x/y.git", Subdir: "sub/dir", Ref: "v1"},
		"github.com/x/y.git//sub":                         {Scheme: "git", URL: "https://github.com/x/y.git", Subdir: "sub"},
		"git::git@git.example.com:shop/c.git//d?ref=main": {Scheme: "git", URL: "git@git.example.com:shop/c.git", Subdir: "d", Ref: "main"},
		"git@github.com:x/y.git":                          {Scheme: "git", URL: "git@github.com:x/y.git"},
		"git::ssh://git@h:22/x.git":                       {Scheme: "git", URL: "ssh://git@h:22/x.git"},
	} {
		got, err := ParseArtifact(&Artifact{Source: source})
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got.Scheme != want.Scheme || got.URL != want.URL || got.Subdir != want.Subdir || got.Archive != want.Archive || got.Ref != want.Ref {
			t.Errorf("%s is %+v, want %+v", source, *got, want)
		}
	}
}

func TestParseArtifactRefuses(t *testing.T) {
	option := func(k, v string) map[string]string { return map[string]string{k: v} }
	for _, c := range []struct {
		a    Artifact
		want string
	}{
		{Artifact{}, "source is missing"},
		{Artifact{Source: "hg::https://h/x"}, "Mercurial"},
		{Artifact{Source: "gcs::https://h/x"}, "the gcs scheme"},
		{Artifact{Source: "file:///etc/passwd"}, "not a URL"},
		{Artifact{Source: "/etc/passwd"}, "not a URL"},
		{Artifact{Source: "file::/etc/passwd"}, "files of the node"},
		{Artifact{Source: "git::file:///srv/x.git"}, "not a URL"},
		{Artifact{Source: "git::file://h/srv/x.git"}, "files of the node"},
		{Artifact{Source: "git::ext::sh -c id"}, "space"},
		{Artifact{Source: "git::ext::sh"}, "not a URL"},
		{Artifact{Source: "ext::sh"}, "runs commands"},
		{Artifact{Source: "git::--upload-pack=x@h:y"}, "must not start with a dash"},
		{Artifact{Source: "git::ssh://-oProxyCommand=x/y"}, "must not start with a dash"},
		{Artifact{Source: "git::git@-oProxyCommand=x:y"}, "must not start with a dash"},
		{Artifact{Source: "git::git@h:-x"}, "must not start with a dash"},
		{Artifact{Source: "git::https://h/x", Options: option("ref", "--upload-pack=x")}, "ref"},
		{Artifact{Source: "git::https://h/x", Options: option("ref", "a:b")}, "ref"},
		{Artifact{Source: "git::https://h/x", Options: option("ref", "+a")}, "ref"},
		{Artifact{Source: "git::https://h/x", Options: option("ref", "a..b")}, "ref"},
		{Artifact{Source: "git::https://h/x", Options: option("depth", "-1")}, "depth"},
		{Artifact{Source: "git::https://h/x", Options: option("sshkey", "a2V5")}, "not fetched over ssh"},
		{Artifact{Source: "git::https://h/x//../y"}, "plain path"},
		{Artifact{Source: "https://h/x", Mode: "dir"}, "not an archive"},
		{Artifact{Source: "https://h/x", Mode: "other"}, "must be any, file or dir"},
		{Artifact{Source: "https://h/x//y"}, "only an archive"},
		{Artifact{Source: "https://h/"}, "names no file"},
		{Artifact{Source: "https://h/x", Options: option("filename", "../x")}, "filename"},
		{Artifact{Source: "https://h/x", Options: option("checksm", "x")}, "known: archive, checksum, filename"},
		{Artifact{Source: "https://h/x", Options: option("checksum", "sha256:abc")}, "checksum"},
		{Artifact{Source: "https://h/x", Options: option("checksum", "file:/etc/passwd")}, "checksum"},
		{Artifact{Source: "https://h/x", Headers: option("X\r\nY", "z")}, "not a valid header"},
		{Artifact{Source: "https://h/x", Headers: option("X", "a\r\nY: z")}, "not a valid header"},
		{Artifact{Source: "s3://bucket/x", Options: option("aws_access_key_id", "x")}, "belong together"},
		{Artifact{Source: "s3://bucket"}, "names no object"},
		{Artifact{Source: "s3://bucket/x", Options: option("region", "a.example.com/")}, "region"},
	} {
		if _, err := ParseArtifact(&c.a); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: the error is %v, want one with %q", c.a, err, c.want)
		}
	}
}

func FuzzParseArtifact(f *testing.F) {
	for _, s := range []string{"https://h/a.tgz//b?checksum=md5:x", "git::git@h:x//y?ref=z", "s3::https://s3.amazonaws.com/b/k", "github.com/x/y", "a::b::c@d:e"} {
		f.Add(s, "ref", "v1")
	}
	f.Fuzz(func(t *testing.T, source, name, value string) {
		s, err := ParseArtifact(&Artifact{Source: source, Options: map[string]string{name: value}})
		if err != nil {
			return
		}
		if strings.HasPrefix(s.URL, "-") || strings.HasPrefix(s.Ref, "-") || strings.Contains(s.Subdir, "..") && strings.Contains("/"+s.Subdir+"/", "/../") {
			t.Errorf("%q makes %+v", source, *s)
		}
		if s.Scheme != ArtifactGit && s.Mode != ArtifactModeFile && s.Archive == "" && !isFileName(s.Filename) {
			t.Errorf("%q makes the file name %q", source, s.Filename)
		}
	})
}
