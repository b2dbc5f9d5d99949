#!/bin/sh
# Creates the user of the service. Does not start it: that is your decision.
set -e
if command -v systemd-sysusers >/dev/null 2>&1; then
	systemd-sysusers memoryd.conf
elif ! id memoryd >/dev/null 2>&1; then
	useradd --system --home-dir /var/lib/memoryd --shell /usr/sbin/nologin memoryd 2>/dev/null ||
		adduser -S -D -H -h /var/lib/memoryd -s /sbin/nologin memoryd
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	if systemctl is-active --quiet memoryd; then
		systemctl restart memoryd # an upgrade
	else
		echo "Start memoryd with: systemctl enable --now memoryd"
	fi
fi
