#!/bin/bash
# The Debian package in a fresh root: apt installs it with what it depends on, the demo runs as an
# ordinary user, manuals and completions are found, and removing it leaves nothing.
# FRESH_ROOT= names a root of debootstrap's to copy instead of making one.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"

package=$(ls "$BUILD"/deb/stablerun_*_amd64.deb 2>/dev/null) ||
	skip "the package is not built: make check-deb builds it"
[ "$(id -u)" -eq 0 ] || skip "needs root"
need debootstrap debootstrap
unshare -m true 2>/dev/null || skip "mounts are refused here"

root=$TMP/root
if [ -n "${FRESH_ROOT-}" ]; then
	cp -a --one-file-system "$FRESH_ROOT" "$root"
else
	mirror=$(sed -n 's,^\(URIs: \|deb \(\[[^]]*\] \)\?\)\(https\?://[^ ]*\).*,\3,p' \
		/etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
		grep -v security | head -n 1)
	debootstrap --variant=minbase bookworm "$root" "${mirror:-http://deb.debian.org/debian}" \
		>debootstrap.log 2>&1 || {
		tail -n 3 debootstrap.log
		skip "debootstrap failed: $(tail -n 1 debootstrap.log)"
	}
fi
# The way to the mirror is the machine's.
cp -r /etc/apt/apt.conf.d "$root/etc/apt/"
cp /etc/apt/sources.list "$root/etc/apt/" 2>/dev/null || true
cp /etc/apt/sources.list.d/* "$root/etc/apt/sources.list.d/" 2>/dev/null || true
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
mkdir -p "$root/opt"
cp "$package" "$root/opt/stablerun.deb"

cat >"$root/opt/inside" <<'END'
#!/bin/bash
# Each step ends the test where it fails; the caller reads the last one that began.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin
step() { echo "step $*"; }
files() { find / -xdev -path /tmp -prune -o -path /var/lib/dpkg -prune -o -path /var/log -prune \
	-o -path /var/cache -prune -o -path /var/lib/apt -prune -o -path /opt -prune -o -print | sort; }

step update
apt-get update
apt-get install -y --no-install-recommends man-db bash-completion linux-perf less
# What it depends on, so that only its own files are new afterwards.
apt-get install -y --no-install-recommends \
	$(dpkg-deb -f /opt/stablerun.deb Depends | tr ',' '\n' | sed 's/(.*//')
files >/opt/before

step install
dpkg -i /opt/stablerun.deb
[ "$(dpkg-query -W -f '${db:Status-Status}' stablerun)" = installed ]
apt-get check

step demo
cat >/opt/demo <<'DEMO'
set -eu
cd "$(mktemp -d)"
cp /usr/share/doc/stablerun/examples/nbody.py* .
[ ! -e nbody.py.gz ] || gunzip nbody.py.gz
stablerun perf -o nbody.run -- stablerun-jit -p nbody.py 20000
[ -e nbody.run/perf.data ] || echo "no samples"
stablerun annotate nbody.run >report || [ ! -e nbody.run/perf.data ]
head -n 12 report
[ ! -e nbody.run/perf.data ] || grep -q 'jit  *nbody\.' report
stablerun --plan -- stablerun-jit nbody.py | grep "Stablerun's JIT\|jit"
stablerun rules | grep -q '^node'
stablerun show nbody.run | grep -q stablerun-jit
DEMO
setpriv --reuid=65534 --regid=65534 --clear-groups bash /opt/demo

step manuals
for page in stablerun stablerun-annotate stablerun-jit; do
	man -w $page
	man $page | grep -qi "^NAME"
done

step completions
. /usr/share/bash-completion/bash_completion
complete_line() { # WORD...: what the last word becomes
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=$((${#COMP_LINE})) COMPREPLY=()
	_completion_loader "$1" || true
	$(complete -p "$1" | sed 's/.*-F \([^ ]*\).*/\1/') "$1" "${*: -1}" ""
	echo "${COMPREPLY[*]}"
}
set +eu
[ "$(complete_line stablerun verif)" = verify ] || exit 1
complete_line stablerun-annotate --fold | grep -q -- --folded || exit 1
complete_line stablerun-jit --thre | grep -q -- --threshold= || exit 1
set -eu

step remove
dpkg -P stablerun
files >/opt/after
diff /opt/before /opt/after
! dpkg-query -W stablerun 2>/dev/null | grep .
step done
END
chmod +x "$root/opt/inside"

cat >mounted <<'END'
set -eu
root=$1
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
exec chroot "$root" /opt/inside
END
status=0
unshare -m --propagation private bash mounted "$root" >log 2>&1 </dev/null || status=$?
last=$(grep '^step ' log | tail -n 1)
failed=
for name in update install demo manuals completions remove; do
	if ! grep -q "^step $name$" log; then
		[ "$name" != update ] || fail "$(tail -n 5 log)"
		echo "FAIL: $name: not reached"
	elif [ "$last" = "step $name" ] && [ $status -ne 0 ]; then
		echo "FAIL: $name"
		sed -n "/^step $name$/,\$p" log | tail -n 25 | sed 's/^/    /'
	else
		echo "PASS: $name"
	fi
done
sed -n '/^step demo$/,/^step manuals$/p' log | grep -m 3 ' jit \|samples' | sed 's/^/note: /'
[ "$last" = "step done" ]
