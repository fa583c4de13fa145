#!/usr/bin/env bash
# A private PostgreSQL server for the tests, on Debian.
#
#   url=$(.ci/postgresql.sh)          install if missing, start, print the server's URL
#   .ci/postgresql.sh stop "$url"     stop it and remove its files
#
# The server listens on a Unix socket in its own temporary directory only: no port can collide, and
# nobody but root and the account it runs under can connect. Nothing in it outlives the tests, so it
# does not wait for the disk. Messages go to standard error.
set -euo pipefail

say() { echo "postgresql.sh: $*" >&2; }

binaries() { # the newest installed server's directory, or nothing
    local newest
    newest=$(find /usr/lib/postgresql -path '*/bin/initdb' 2>/dev/null | sort -V | tail -n 1 || true)
    [[ -z $newest ]] || dirname "$newest"
}

install_server() {
    if [[ $(id -u) -ne 0 ]]; then
        say "PostgreSQL is not installed; run 'apt-get install postgresql' as root"
        return 1
    fi
    local try
    for try in 1 2 3; do
        # RUNLEVEL=1 keeps the package from starting a server of its own.
        if { apt-get update && DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
            apt-get install -y --no-install-recommends postgresql; } </dev/null >&2; then
            return 0
        fi
        say "installation failed (try $try of 3)"
        sleep $((5 * try))
    done
    return 1
}

as_server() { # PostgreSQL refuses to run as root
    if [[ $(id -u) -eq 0 ]]; then
        runuser -u postgres -- "$@"
    else
        "$@"
    fi
}

start() {
    local bin home
    bin=$(binaries)
    if [[ -z $bin ]]; then
        install_server
        bin=$(binaries)
    fi
    # /tmp, not TMPDIR: a socket's path may be 107 bytes long.
    home=$(mktemp -d /tmp/tilewright-postgresql.XXXXXX)
    [[ $(id -u) -ne 0 ]] || chown postgres: "$home"
    cd "$home"
    if ! as_server "$bin/initdb" --pgdata="$home/data" --username=postgres --auth=trust \
        --no-locale --encoding=UTF8 --no-sync >"$home/initdb.log" 2>&1; then
        say "initdb failed:"
        cat "$home/initdb.log" >&2
        rm -rf "$home"
        return 1
    fi
    local options="-c listen_addresses='' -c unix_socket_directories='$home' -c fsync=off \
-c synchronous_commit=off -c full_page_writes=off -c shared_buffers=32MB"
    if ! as_server "$bin/pg_ctl" start --pgdata="$home/data" --log="$home/data/server.log" \
        --options="$options" --wait --timeout=60 </dev/null >/dev/null 2>&1; then
        say "the server did not start:"
        cat "$home/data/server.log" >&2 || true
        rm -rf "$home"
        return 1
    fi
    echo "postgresql+psycopg://postgres@/postgres?host=$home"
}

stop() {
    local home=${1##*host=} bin
    if [[ ! -d $home/data || $home != /tmp/tilewright-postgresql.* ]]; then
        say "no server of this script at '$1'"
        return 1
    fi
    bin=$(binaries)
    cd /
    as_server "$bin/pg_ctl" stop --pgdata="$home/data" --mode=immediate --wait >&2 || true
    rm -rf "$home"
}

case ${1:-start} in
start) start ;;
stop) stop "${2:?the URL that start printed}" ;;
*)
    say "unknown command '$1': use start or stop URL"
    exit 2
    ;;
esac
