#!/bin/sh
# Stops the service before the package is removed, not before it is upgraded:
# dpkg says "upgrade", rpm gives the number of versions that stay. Your data
# in /var/lib/memoryd is not touched.
set -e
case "${1:-remove}" in
upgrade | 1) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
	systemctl disable --now memoryd || true
fi
