#!/bin/sh
# Builds the packages twice and compares the bytes. Then checks the contents, the unit, and the
# life of the deb in a directory: installation, upgrade, removal and purge. Needs root for the
# installation, because the binary runs with that directory as its root.
set -eu
./tools/need.sh systemd-analyze systemd
./tools/need.sh rpm rpm
arch=$(go env GOARCH)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "packages-check: $*" >&2
	exit 1
}

./tools/packages.sh "$work/first" "$arch"
./tools/packages.sh "$work/second" "$arch"
diff -r "$work/first" "$work/second" || fail "two builds of one commit differ"
(cd "$work/first" && sha256sum --check --quiet SHA256SUMS)
cd "$work/first"
deb=$(ls ./*.deb) rpm=$(ls ./*.rpm) tarball=$(ls ./*.tar.gz) image=$(ls ./*.oci.tar)

# expect LIST LINE...: each LINE, as "mode owner path", is in the list.
expect() {
	list=$1
	shift
	for line; do
		grep -qxF -- "$line" "$list" || fail "$list lacks \"$line\": $(cat "$list")"
	done
}
dpkg-deb -c "$deb" | awk '{print $1, $2, $6}' >"$work/deb"
expect "$work/deb" \
	"-rwxr-xr-x root/root ./usr/bin/reeve" \
	"-rw-r--r-- root/root ./usr/lib/systemd/system/reeve.service" \
	"-rw-r--r-- root/root ./etc/reeve/agent.hcl" \
	"-rw------- root/root ./etc/reeve/reeve.env" \
	"-rw-r--r-- root/root ./usr/share/reeve/examples/first-server.hcl" \
	"drwx------ root/root ./var/lib/reeve/"
rpm -qp --qf '[%{FILEMODES:perms} %{FILEUSERNAME}/%{FILEGROUPNAME} .%{FILENAMES}\n]' "$rpm" >"$work/rpm"
expect "$work/rpm" \
	"-rwxr-xr-x root/root ./usr/bin/reeve" \
	"-rw------- root/root ./etc/reeve/reeve.env" \
	"drwx------ root/root ./var/lib/reeve"
mkdir "$work/tarball"
tar -xzf "$tarball" -C "$work/tarball" --strip-components=1
(cd "$work/tarball" && sha256sum --check --quiet SHA256SUMS)
tar -tf "$image" | grep -qx index.json || fail "the image has no index.json"

root=$work/root
mkdir -p "$root/var/lib/dpkg" "$root/bin"
dpkg_in() { dpkg --root="$root" --force-not-root --force-script-chrootless --log=/dev/null "$@" >/dev/null; }
dpkg_in --install "$deb"
version=$(chroot "$root" /usr/bin/reeve version)
echo "$version"
case $version in
"Reeve $(dpkg-deb -f "$deb" Version | tr '~' '-')"*) ;;
*) fail "the installed binary has version \"$version\"" ;;
esac
[ "$(stat -c %a "$root/var/lib/reeve")" = 700 ] || fail "the data directory is not private"
# The directory has no units of systemd itself, so the unit is verified outside of it.
sed "s|/usr/bin/reeve|$root/usr/bin/reeve|" "$root/usr/lib/systemd/system/reeve.service" >"$work/reeve.service"
# Settings that systemd ignores are only messages.
systemd-analyze verify --man=no "$work/reeve.service" >"$work/unit" 2>&1 || fail "systemd rejects the unit: $(cat "$work/unit")"
! grep -F reeve.service "$work/unit" || fail "systemd ignores a setting of the unit"
echo '# changed' >>"$root/etc/reeve/agent.hcl"
touch "$root/var/lib/reeve/kept"
dpkg_in --install "$deb"
grep -q '# changed' "$root/etc/reeve/agent.hcl" || fail "an upgrade replaced the configuration"
dpkg_in --remove reeve
[ ! -e "$root/usr/bin/reeve" ] || fail "removal leaves the binary"
dpkg_in --purge reeve
[ -e "$root/var/lib/reeve/kept" ] || fail "a purge deleted the data"
echo "packages: reproducible, installed, upgraded and removed"
