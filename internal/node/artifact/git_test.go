// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// git runs git in a directory.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_ALLOW_PROTOCOL=file")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repositoryOf serves a repository by http and returns its directory and URL.
func repositoryOf(t *testing.T, files map[string]string) (dir, url string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "r.git")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	commit(t, dir, files)
	backend := &cgi.Handler{
		Path: filepath.Join(git(t, dir, "--exec-path"), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + filepath.Dir(dir), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
	}
	s := httptest.NewServer(backend)
	t.Cleanup(s.Close)
	return dir, "git::" + s.URL + "/r.git"
}

func commit(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, body := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "--message=change")
	return git(t, dir, "rev-parse", "HEAD")
}

func TestGitFetchesARef(t *testing.T) {
	dir, url := repositoryOf(t, map[string]string{"v": "1", "sub/x": "sub"})
	git(t, dir, "tag", "v1")
	first := git(t, dir, "rev-parse", "HEAD")
	commit(t, dir, map[string]string{"v": "2"})
	git(t, dir, "branch", "stable")
	commit(t, dir, map[string]string{"v": "3"})
	f := newFetcher(t, Config{})
	for ref, want := range map[string]string{"": "3", "v1": "1", "stable": "2", first: "1", first[:10]: "1"} {
		got, err := place(t, f, &api.Artifact{Source: url, Options: map[string]string{"ref": ref}})
		if err != nil {
			t.Errorf("ref %q: %v", ref, err)
			continue
		}
		if v := content(t, got, "v"); v != want {
			t.Errorf("ref %q has version %s, want %s", ref, v, want)
		}
		if _, err := os.Stat(filepath.Join(got, ".git")); err == nil {
			t.Error("the repository's own data was placed")
		}
	}
	got, err := place(t, f, &api.Artifact{Source: url + "//sub?ref=main"})
	if err != nil || content(t, got, "x") != "sub" {
		t.Errorf("the subdirectory: %v", err)
	}
	if _, err = place(t, f, &api.Artifact{Source: url + "?ref=none"}); err == nil || !strings.Contains(err.Error(), "correct the option ref") {
		t.Errorf("a ref that does not exist: %v", err)
	}
}

// TestHostileRepositoryHasNoEffect fetches a repository that tries to run programs and to hide or
// change files by its attributes.
func TestHostileRepositoryHasNoEffect(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	dir, url := repositoryOf(t, map[string]string{
		".gitattributes": "hidden export-ignore\nchanged export-subst\n* filter=evil\n", "hidden": "h", "changed": "$Format:%H$", "x": "x",
		".gitmodules": "[submodule \"s\"]\n\tpath = s\n\turl = ext::sh -c 'touch " + ran + "'\n\tupdate = !touch " + ran + "\n",
	})
	git(t, dir, "config", "filter.evil.smudge", "touch "+ran)
	git(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+git(t, dir, "rev-parse", "HEAD")+",s")
	git(t, dir, "commit", "--quiet", "--message=module")
	got, err := place(t, newFetcher(t, Config{}), &api.Artifact{Source: url})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"hidden": "h", "changed": "$Format:%H$", "x": "x"} {
		if v := content(t, got, name); v != want {
			t.Errorf("%s contains %q, want %q", name, v, want)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the repository ran a program")
	}
	if err := os.Symlink("/etc", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	commit(t, dir, nil)
	if _, err := place(t, newFetcher(t, Config{}), &api.Artifact{Source: url}); err == nil || !strings.Contains(err.Error(), "not in it") {
		t.Errorf("a link out of the repository: %v", err)
	}
}

func TestGitFollowsNoRedirect(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1"+r.URL.Path, http.StatusMovedPermanently)
	}))
	defer s.Close()
	_, err := place(t, newFetcher(t, Config{}), &api.Artifact{Source: "git::" + strings.Replace(s.URL, "//", "//u:hunter2@", 1) + "/r.git"})
	if err == nil || !strings.Contains(err.Error(), "redirects") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error is %v", err)
	}
}

func TestGitBoundsTheRepository(t *testing.T) {
	var b strings.Builder
	for i := range 200_000 {
		b.WriteString(strings.Repeat(string(rune('a'+i%26)), i%7))
		b.WriteByte(byte(i * i >> 3))
	}
	_, url := repositoryOf(t, map[string]string{"x": b.String()})
	_, err := place(t, newFetcher(t, Config{Limits: Limits{Download: 16 << 10}}), &api.Artifact{Source: url})
	if err == nil {
		t.Error("a repository larger than the limit was fetched")
	}
	_, err = place(t, newFetcher(t, Config{Limits: Limits{Unpacked: 16 << 10}}), &api.Artifact{Source: url})
	if err == nil || !strings.Contains(err.Error(), "more than 16384 bytes") {
		t.Errorf("the error is %v", err)
	}
}
