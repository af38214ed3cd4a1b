// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
)

// Hidden words that start this program as a fetching process.
const (
	wordInit    = "artifact-init"    // makes the namespaces' root
	wordConfine = "artifact-confine" // confines itself with Landlock
	wordFetch   = "artifact-fetch"   // fetches
)

// proxies are variables of the environment that net/http and git read.
var proxies = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}

// Dispatch runs this process as a fetching process if the first argument is one of the hidden
// words, and returns its exit code. Call it first in main.
func Dispatch(args []string) (handled bool, code int) {
	if len(args) == 0 {
		return false, 0
	}
	switch args[0] {
	case wordInit:
		return true, isolate.Init()
	case wordConfine:
		return true, confineMain(args[1:])
	case wordFetch:
		return true, fetchMain(os.Stdin, os.Stdout)
	}
	return false, 0
}

// confineMain confines this process, and becomes the fetching process. Landlock confines a thread,
// and exec makes it the only one.
func confineMain(extra []string) int {
	runtime.LockOSThread()
	exe, err := os.Executable()
	if err == nil {
		err = confine(".", extra)
	}
	if err == nil {
		err = syscall.Exec(exe, []string{"reeve", wordFetch}, os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// fetchMain fetches into the working directory what in asks for, and writes an outcome to out. It
// ends when in ends: then the agent has ended.
func fetchMain(in io.Reader, out io.Writer) int {
	var r Request
	decoder := json.NewDecoder(in)
	if err := decoder.Decode(&r); err != nil || r.Source == nil {
		return 2
	}
	go func() {
		io.Copy(io.Discard, io.MultiReader(decoder.Buffered(), in))
		os.Exit(3)
	}()
	result := outcome{}
	if err := fetchInto(".", &r, &result); err != nil {
		result.Failure = explain(r.Source, err)
	}
	if json.NewEncoder(out).Encode(result) != nil {
		return 1
	}
	return 0
}

// maxMemory bounds the fetching process and git, in bytes: an archive can declare huge
// dictionaries.
const maxMemory = 1 << 30

// probe replaces the fetch in tests of the confinement.
var probe func(path string) error

// fetchInto fetches below a directory.
func fetchInto(dir string, r *Request, result *outcome) error {
	unix.Umask(0o077)
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: maxMemory, Max: maxMemory}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.Limits.Timeout)
	defer cancel()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(filesName, 0o700); err != nil {
		return err
	}
	if r.Source.Scheme == api.ArtifactGit {
		result.Commit, err = fetchRepository(ctx, root, r)
		return err
	}
	if probe != nil && r.Source.Scheme == "probe" {
		return probe(r.Source.URL)
	}
	useEnvironment(r.Source)
	if result.Bytes, err = download(ctx, root, r); err != nil {
		return err
	}
	return unpack(root, r, result.Bytes)
}

// useEnvironment takes credentials for S3 from the environment. The agent passes them on only if
// the operator's configuration says so.
func useEnvironment(s *api.ArtifactSource) {
	if s.Scheme == api.ArtifactS3 && s.AccessKey == "" {
		s.AccessKey, s.SecretKey, s.AWSToken = os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN")
	}
}
