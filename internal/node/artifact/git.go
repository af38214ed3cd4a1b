// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
)

// fetchRepository unpacks a commit of a repository. It never makes a working tree: git archive
// passes the files through the same unpacker as any archive. So neither the configuration nor the
// hooks, filters or submodules of a repository have an effect.
func fetchRepository(ctx context.Context, root *os.Root, r *Request) (commit string, err error) {
	g, err := newRepository(ctx, root, r)
	if err != nil {
		return "", err
	}
	if commit, err = g.fetch(); err != nil {
		return "", err
	}
	files, err := root.OpenRoot(filesName)
	if err != nil {
		return "", err
	}
	defer files.Close()
	t := &tree{root: files, limits: r.Limits, subdir: r.Source.Subdir}
	cmd := g.command("archive", "--format=tar", commit)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	var said bytes.Buffer
	cmd.Stderr = &limited{w: &said, left: maxSaid}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	err = unpackTar(t, out)
	if err != nil {
		cmd.Process.Kill()
	} else {
		io.Copy(io.Discard, out)
	}
	if ended := cmd.Wait(); err == nil && ended != nil {
		err = g.explain(ended, said.String())
	}
	if err == nil {
		err = t.finish()
	}
	return commit, err
}

type repository struct {
	ctx context.Context
	dir string
	r   *Request
	env []string
}

// maxSaid bounds what is kept of a program's messages, in bytes.
const maxSaid = 4096

// newRepository makes an empty repository. The URL is in the environment, because other users of
// the machine can read the arguments of processes.
func newRepository(ctx context.Context, root *os.Root, r *Request) (*repository, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, &Failure{Text: "this node has no git", Hint: "install it on the node: apt-get install git"}
	}
	// git's files have no other bound.
	limit := unix.Rlimit{Cur: uint64(r.Limits.Download), Max: uint64(r.Limits.Download)}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return nil, fmt.Errorf("limit the size of files: %w", err)
	}
	home, err := filepath.Abs(root.Name())
	if err != nil {
		return nil, err
	}
	g := &repository{ctx: ctx, dir: filepath.Join(home, "repository"), r: r}
	protocols := "http:https"
	if !strings.HasPrefix(r.Source.URL, "http") {
		protocols = "ssh"
	}
	g.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0",
		"GIT_ALLOW_PROTOCOL=" + protocols, "GIT_PROTOCOL_FROM_USER=0", "GIT_ATTR_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + home,
	}
	for _, name := range proxies {
		if v, ok := os.LookupEnv(name); ok {
			g.env = append(g.env, name+"="+v)
		}
	}
	settings := [][2]string{
		{"remote.origin.url", r.Source.URL}, {"core.hooksPath", "/dev/null"}, {"credential.helper", ""}, {"core.fsmonitor", "false"},
		{"gc.auto", "0"}, {"maintenance.auto", "false"}, {"http.followRedirects", "false"}, {"transfer.bundleURI", "false"},
		{"http.sslVerify", strconv.FormatBool(!r.Insecure)}, {"http.lowSpeedLimit", "1"},
		{"http.lowSpeedTime", strconv.Itoa(max(1, int(r.Limits.Stall.Seconds())))}, {"fetch.recurseSubmodules", "false"},
	}
	g.env = append(g.env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(settings)))
	for i, s := range settings {
		g.env = append(g.env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s[1]))
	}
	if protocols == "ssh" {
		ssh, err := sshCommand(root, home, r.Source)
		if err != nil {
			return nil, err
		}
		g.env = append(g.env, "GIT_SSH_VARIANT=ssh", "GIT_SSH_COMMAND="+ssh)
	}
	if err := root.Mkdir("repository", 0o700); err != nil {
		return nil, err
	}
	if _, err := g.run("init", "--quiet", "--bare", "--template="); err != nil {
		return nil, err
	}
	// The repository's own attributes must neither omit nor change files.
	if err := root.MkdirAll("repository/info", 0o700); err != nil {
		return nil, err
	}
	return g, root.WriteFile("repository/info/attributes", []byte("* -export-ignore -export-subst -ident\n"), 0o600)
}

// sshCommand returns the command that git uses for ssh. The host's key must be known to the node.
func sshCommand(root *os.Root, home string, s *api.ArtifactSource) (string, error) {
	command := "ssh -F /dev/null -o BatchMode=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile=/etc/ssh/ssh_known_hosts -o ConnectTimeout=10 -o ServerAliveInterval=15"
	if s.SSHKey == "" {
		return command, nil
	}
	key, err := base64.StdEncoding.DecodeString(s.SSHKey)
	if err != nil {
		return "", refuse("the option sshkey is not base64")
	}
	if len(key) > 0 && key[len(key)-1] != '\n' {
		key = append(key, '\n')
	}
	if err := root.WriteFile("key", key, 0o600); err != nil {
		return "", err
	}
	return command + " -o IdentitiesOnly=yes -i '" + strings.ReplaceAll(home, "'", `'\''`) + "/key'", nil
}

// fetch gets the commit of the source. Servers may refuse to send a commit that no branch or tag
// names: then all are fetched.
func (g *repository) fetch() (commit string, err error) {
	ref, depth := g.r.Source.Ref, max(1, g.r.Source.Depth)
	if ref == "" {
		ref = "HEAD"
	}
	_, err = g.run("fetch", "--quiet", "--no-tags", "--depth="+strconv.Itoa(depth), "--", "origin", ref)
	if err == nil {
		return g.resolve("FETCH_HEAD")
	}
	if len(ref) < 7 || strings.Trim(ref, "0123456789abcdef") != "" {
		return "", err
	}
	if _, all := g.run("fetch", "--quiet", "--no-tags", "--", "origin", "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"); all != nil {
		return "", all
	}
	return g.resolve(ref)
}

func (g *repository) resolve(name string) (string, error) {
	out, err := g.run("rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return "", &Failure{Text: "the repository has no commit " + g.r.Source.Ref, Hint: "correct the option ref"}
	}
	return strings.TrimSpace(out), nil
}

func (g *repository) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(g.ctx, "git", args...)
	cmd.Dir, cmd.Env = g.dir, append(g.env, "GIT_DIR="+g.dir)
	return cmd
}

func (g *repository) run(args ...string) (string, error) {
	cmd := g.command(args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{w: &out, left: maxSaid}, &limited{w: &said, left: maxSaid}
	if err := cmd.Run(); err != nil {
		return "", g.explain(err, said.String())
	}
	return out.String(), nil
}

// explain makes a failure of what git said.
func (g *repository) explain(err error, said string) error {
	if g.ctx.Err() != nil {
		return g.ctx.Err()
	}
	said = strings.ReplaceAll(said, g.r.Source.URL, Redact(g.r.Source.URL))
	text := "git ended: " + err.Error()
	var exit *exec.ExitError
	if errors.As(err, &exit) && strings.TrimSpace(said) != "" {
		text = "git: " + api.Printable(strings.TrimSpace(said), 300)
	}
	f := &Failure{Text: text, Temporary: true, Hint: "check the repository's URL and its credentials with git ls-remote"}
	switch {
	case strings.Contains(said, "Host key verification failed"):
		f.Temporary, f.Hint = false, "add the key of "+hostOf(g.r.Source.URL)+" to /etc/ssh/ssh_known_hosts of the node, as ssh-keyscan prints it"
	case strings.Contains(said, "couldn't find remote ref"), strings.Contains(said, "not our ref"):
		f.Temporary, f.Hint = false, "correct the option ref: name a branch, a tag or a commit"
	case strings.Contains(said, "unable to update url base from redirection"), strings.Contains(said, "The requested URL returned error: 30"):
		f.Temporary, f.Hint = false, "the server redirects: name the URL to which it leads"
	case strings.Contains(said, "Authentication failed"), strings.Contains(said, "could not read Username"), strings.Contains(said, "Permission denied"):
		f.Temporary, f.Hint = false, "check the credentials: user and password in the URL, or the option sshkey"
	case strings.Contains(said, "not found"):
		f.Temporary, f.Hint = false, "check that the repository exists and that the credentials may read it"
	case strings.Contains(said, "File too large"), strings.Contains(said, "SIGXFSZ"):
		f.Temporary, f.Hint = false, "the repository is too large: set depth = 1, or raise http_max_size of the artifact block in the node's configuration"
	}
	return f
}

// limited keeps the first bytes that are written to it.
type limited struct {
	w    *bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.w.Write(p[:n])
	l.left -= n
	return len(p), nil
}
