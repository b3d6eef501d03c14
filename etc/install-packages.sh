#!/bin/sh
# Installs the packages listed in the given files (default: etc/packages) that are missing,
# by apt-get as root or through sudo; where neither works, names them and fails.
set -eu

here=$(dirname "$0")
[ $# -gt 0 ] || set -- "$here/packages"

missing=
for package in $(sed 's/#.*//' "$@"); do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=
	[ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
	as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
	as_root=sudo
else
	echo "install-packages: missing packages; install them as root:" >&2
	echo "	apt-get install$missing" >&2
	exit 1
fi

echo "installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Package lists can be absent or old on a new machine: refresh them first.
if ! { $as_root apt-get update && $as_root apt-get install -y --no-install-recommends \
	$missing; } >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	echo "install-packages: apt-get failed; missing:$missing" >&2
	exit 1
fi
