// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/ledger"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

const testID = "99999999-0000-4000-8000-000000000037"

// bench runs a Keeper, and receives its reports.
type bench struct {
	*testing.T
	dir     string
	keeper  *Keeper
	reports chan *api.HostVolumeReport
	stop    func()
}

// newBench starts a keeper on a directory, as another agent does after a restart.
func newBench(t *testing.T, dir string) *bench {
	t.Helper()
	l, err := ledger.Open(filepath.Join(dir, "private", "node.db"))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, dir: dir, reports: make(chan *api.HostVolumeReport, 100)}
	b.keeper, err = Open(Config{
		Dir: filepath.Join(dir, "volumes"), Plugins: filepath.Join(dir, "plugins"), Private: filepath.Join(dir, "private"),
		NodeID: "n", Pool: "default", Ledger: l, Logger: slog.New(slog.DiscardHandler),
		Report: func(_ context.Context, list []*api.HostVolumeReport) error {
			for _, r := range list {
				b.reports <- r
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.keeper.Run(ctx)
	}()
	stopped := false
	b.stop = func() {
		if !stopped {
			stopped = true
			cancel()
			<-done
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(b.stop)
	return b
}

func testVolume(change func(*api.HostVolume)) *api.HostVolume {
	v := &api.HostVolume{Namespace: "default", ID: testID, Name: "data", PluginID: api.PluginMkdir, State: api.HostVolumePending, Generation: 1}
	if change != nil {
		change(v)
	}
	return v
}

// next returns the next report.
func (b *bench) next() *api.HostVolumeReport {
	b.Helper()
	select {
	case r := <-b.reports:
		return r
	case <-b.Context().Done():
		b.Fatal("no report")
		return nil
	}
}

// settled waits until the keeper of a bubble has nothing to do, and returns the last report since the last call. The
// keeper repeats a report as often as it looks at the volume, until the servers have it.
func (b *bench) settled() (last *api.HostVolumeReport) {
	b.Helper()
	synctest.Wait()
	for last == nil || len(b.reports) > 0 {
		select {
		case last = <-b.reports:
		default:
			b.Fatal("no report")
		}
	}
	return last
}

func (b *bench) path() string { return filepath.Join(b.dir, "volumes", testID) }

func TestADirectoryIsMadeOnceAndDeleted(t *testing.T) {
	bubble.Test(t, testMadeAndDeleted)
}

func testMadeAndDeleted(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, dir)
	b.keeper.Receive([]*api.HostVolume{testVolume(func(v *api.HostVolume) { v.Parameters = map[string]string{"mode": "0751"} }), nil, {ID: "../../etc"}}, "c1", false)
	if r := b.settled(); r.Error != "" || r.HostPath != b.path() || r.Generation != 1 {
		t.Fatalf("report %+v", r)
	}
	st, err := os.Stat(b.path())
	if err != nil || st.Mode().Perm() != 0o751 {
		t.Fatalf("%v, %v", st, err)
	}
	if err := os.Chmod(b.path(), 0o700); err != nil { // as a task may
		t.Fatal(err)
	}
	b.stop()
	b = newBench(t, dir)
	if path, err := b.keeper.Path(t.Context(), testID); err != nil || path != b.path() {
		t.Errorf("before the servers answer: %s, %v", path, err)
	}
	b.keeper.Receive([]*api.HostVolume{testVolume(nil)}, "c1", false)
	if r := b.settled(); r.Generation != 1 || r.Error != "" { // the server has not heard of the result
		t.Errorf("report %+v", r)
	}
	if st, err := os.Stat(b.path()); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("another start changed the mode: %v, %v", st, err)
	}
	deleting := testVolume(func(v *api.HostVolume) { v.State, v.Generation = api.HostVolumeDeleting, 2 })
	b.keeper.Receive([]*api.HostVolume{deleting}, "", false)
	if r := b.settled(); !r.Deleted || r.Generation != 2 {
		t.Errorf("report %+v", r)
	}
	if _, err := os.Lstat(b.path()); !os.IsNotExist(err) {
		t.Errorf("the directory exists: %v", err)
	}
	b.stop()
	b = newBench(t, dir)
	b.keeper.Receive([]*api.HostVolume{deleting}, "c1", false)
	if r := b.settled(); !r.Deleted { // the report was lost
		t.Errorf("report %+v", r)
	}
}

// TestLinksAreNotVolumes puts a link into the place of a volume's directory.
func TestLinksAreNotVolumes(t *testing.T) {
	dir, secret := t.TempDir(), t.TempDir()
	b := newBench(t, dir)
	if err := os.Symlink(secret, b.path()); err != nil {
		t.Fatal(err)
	}
	b.keeper.Receive([]*api.HostVolume{testVolume(nil)}, "c1", false)
	if r := b.next(); r.Error == "" {
		t.Errorf("a link was taken for the volume: %+v", r)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, filepath.Join(dir, "private"), filepath.Join(dir, "private", "x"), dir, filepath.Join(dir, "absent")} {
		if err := b.keeper.checkRegistered(path); err == nil {
			t.Errorf("%s is accepted as a registered volume", path)
		}
	}
	if err := b.keeper.checkRegistered(secret); err != nil {
		t.Errorf("a directory: %v", err)
	}
}

func TestVolumesOfOtherServersAreOffered(t *testing.T) {
	bubble.Test(t, testOfferedVolumes)
}

func testOfferedVolumes(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, dir)
	b.keeper.Receive([]*api.HostVolume{testVolume(nil)}, "c1", false)
	b.settled()
	b.keeper.Receive(nil, "c2", false)
	if r := b.settled(); r.Offered == nil || r.Offered.Name != "data" || r.HostPath != b.path() {
		t.Fatalf("another cluster is told %+v", r)
	}
	b.stop()
	b = newBench(t, dir)
	b.keeper.Receive(nil, "c2", false)
	if r := b.settled(); r.Offered == nil {
		t.Fatalf("after a restart it is told %+v", r)
	}
	ready := testVolume(func(v *api.HostVolume) { v.State, v.HostPath = api.HostVolumeReady, b.path() })
	b.keeper.Receive([]*api.HostVolume{ready}, "c2", false)
	b.keeper.Receive(nil, "", true)
	if r := b.settled(); r.Offered == nil {
		t.Fatalf("rewound servers are told %+v", r)
	}
	b.keeper.Receive([]*api.HostVolume{ready}, "c2", false)
	b.keeper.Receive(nil, "c2", false) // deleted by force
	second := testVolume(func(v *api.HostVolume) { v.ID = strings.Replace(testID, "9", "8", 1) })
	b.keeper.Receive([]*api.HostVolume{second}, "", false)
	if r := b.settled(); r.ID != second.ID {
		t.Errorf("report %+v", r)
	}
	if _, err := os.Stat(b.path()); err != nil {
		t.Errorf("the data of a volume deleted by force: %v", err)
	}
	b.keeper.mu.Lock()
	defer b.keeper.mu.Unlock()
	if b.keeper.records[testID] != nil {
		t.Error("its record is left")
	}
}

// plugin writes a script as plugin.
func (b *bench) plugin(name, script string) {
	b.Helper()
	if err := os.MkdirAll(filepath.Join(b.dir, "plugins"), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "plugins", name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		b.Fatal(err)
	}
}

func TestPluginsAreNotTrusted(t *testing.T) {
	b := newBench(t, t.TempDir())
	of := func(plugin string) *api.HostVolume {
		return testVolume(func(v *api.HostVolume) { v.PluginID, v.Parameters = plugin, map[string]string{"a": "$(id) \"x\""} })
	}
	outside := t.TempDir()
	for name, c := range map[string]struct{ script, want string }{
		"good":     {`[ "$1" = create ] && [ "$DHV_PARAMETERS" = '{"a":"$(id) \"x\""}' ] && mkdir "$DHV_VOLUMES_DIR/good" && echo "{\"path\":\"$DHV_VOLUMES_DIR/good\",\"bytes\":7}"`, ""},
		"outside":  {fmt.Sprintf(`echo '{"path":%q,"bytes":1}'`, outside), "not in the directory of volumes"},
		"dots":     {`echo "{\"path\":\"$DHV_VOLUMES_DIR/../private\"}"`, "not in the directory of volumes"},
		"root":     {`echo "{\"path\":\"$DHV_VOLUMES_DIR\"}"`, "not in the directory of volumes"},
		"link":     {fmt.Sprintf(`ln -sf %s "$DHV_VOLUMES_DIR/l"; echo "{\"path\":\"$DHV_VOLUMES_DIR/l\"}"`, outside), "contains a symbolic link"},
		"relative": {`echo '{"path":"data"}'`, "not in the directory of volumes"},
		"empty":    {`echo '{}'`, "returned no path"},
		"absent":   {`echo "{\"path\":\"$DHV_VOLUMES_DIR/absent\"}"`, "does not exist"},
		"negative": {`mkdir -p "$DHV_VOLUMES_DIR/n"; echo "{\"path\":\"$DHV_VOLUMES_DIR/n\",\"bytes\":-1}"`, "returned -1 bytes"},
		"file":     {`touch "$DHV_VOLUMES_DIR/f"; echo "{\"path\":\"$DHV_VOLUMES_DIR/f\"}"`, "is not a directory"},
		"endless":  {`exec yes`, "wrote more than 65536 bytes"},
		"text":     {`printf 'no \033[31m JSON'`, "which is not JSON"},
		"fails":    {`echo broken >&2; exit 3`, "exit status 3: broken"},
		"says":     {`echo '{"error":"no space left"}'; exit 1`, "no space left"},
		"huge":     {`echo '{"path":"/x","bytes":99999999999999999999}'`, "which is not JSON"},
		"secret":   {`[ -n "$REEVE_TEST_SECRET" ] && echo '{"error":"leaked"}' || echo '{"error":"kept"}'`, "kept"},
	} {
		t.Setenv("REEVE_TEST_SECRET", "x")
		b.plugin(name, c.script)
		result, err := b.keeper.runCreate(t.Context(), of(name))
		switch {
		case c.want == "" && (err != nil || result.bytes != 7 || filepath.Base(result.path) != "good"):
			t.Errorf("%s: %+v, %v", name, result, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v; want %q", name, err, c.want)
		case err != nil && (strings.Contains(err.Error(), "\033") || len(err.Error()) > 1000):
			t.Errorf("%s: the error shows what the plugin wrote: %q", name, err)
		}
	}
	for _, name := range []string{"../plugins/good", "good/..", "", "none", ".good"} {
		if _, err := b.keeper.run(t.Context(), of(name), "create", "", operationTime); err == nil {
			t.Errorf("plugin %q ran", name)
		}
	}
	b.plugin("version", `echo '{"version":"1.2"}'`)
	if found := b.keeper.Fingerprint(t.Context()); found[api.VolumePluginAttribute("version")] != "1.2" || found[api.VolumePluginAttribute(api.PluginMkdir)] == "" || len(found) != 2 {
		t.Errorf("fingerprint %v", found)
	}
}
