#!/bin/bash
# Pools over ssh. The test runs its own sshd on its own port; the hosts gpu01 and gpu02 are this machine. Each login
# prints a greeting. Connections are killed, stopped and refused during a search over 80 candidates. Needs root, and
# installs missing Debian packages.
# Usage: BIN=out/bin tests/ssh.sh
set -u
BIN=$(realpath "${BIN:?}")
cd "$(dirname "$0")/.." || exit 1
kind=ssh tests=7
. tests/pool_scene.sh
needs openssh-server sshd
needs openssh-client ssh ssh-keygen
scene_begin

mkdir -p /run/sshd "$at/bin"
for key in host user other; do ssh-keygen -q -t ed25519 -N '' -f "$at/$key"; done
cp "$at/user.pub" "$at/allowed"
cat >"$at/login" <<'EOF'
#!/bin/sh
echo "Welcome. Modules loaded: none"
exec sh -c "$SSH_ORIGINAL_COMMAND"
EOF
chmod +x "$at/login"
# sweetspot finds this ssh, which calls the system's ssh with this test's hosts.
printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$at/config" >"$at/bin/ssh"
chmod +x "$at/bin/ssh"
PATH=$at/bin:$PATH
fake=$BIN/fake_worker
come_up() {
    port=$(free_ports)
    # Another machine would not have this machine's variables.
    cat >"$at/sshd_config" <<EOF
ListenAddress 127.0.0.1
Port $port
HostKey $at/host
PidFile $at/sshd.pid
AuthorizedKeysFile $at/allowed
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
ForceCommand $at/login
SetEnv SWEETSPOT_GPU_WORKER=$fake SWEETSPOT_COMPILE_WORKER=$fake FAKE_LOG=$FAKE_LOG FAKE_DELAY=$FAKE_DELAY
EOF
    cat >"$at/config" <<EOF
Host gpu01 gpu02 gpu03
  HostName 127.0.0.1
  Port $port
  User $(id -un)
  IdentityFile $at/user
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile $at/known
  LogLevel ERROR
EOF
    sed -e "s|IdentityFile .*|IdentityFile $at/other|; s/^Host .*/Host refused/" "$at/config" >"$at/more"
    cat "$at/more" >>"$at/config"
    "$(command -v sshd)" -D -f "$at/sshd_config" -E "$at/sshd.log" &
    pids="$pids $!"
    for _ in $(seq 50); do
        ssh gpu01 true >/dev/null 2>&1 && return 0
        kill -0 $! 2>/dev/null || return 1
        sleep .1
    done
    return 1
}
come_up || come_up || come_up || { cat "$at/sshd.log"; skip "sshd does not come up here"; }
clients() { pgrep -f "^[^ ]*ssh -F $at/config .*gpu0"; }
# Whether these processes have ended.
ended() {
    for _ in $(seq 60); do # shellcheck disable=SC2086
        ps -o stat= -p "$(echo $1 | tr ' ' ,)" | grep -qv Z || return 0
        sleep .1
    done
    return 1
}

fresh
tune --pool ssh:gpu01,gpu02 >"$at/out" 2>"$at/err" && whole && grep -q 'node gpu01 joins' "$at/err" &&
    grep -q 'node gpu02 joins' "$at/err" && grep -q 'Welcome. Modules' "$at/job.log"
result $? 'two hosts are used, and what a login prints is logged'

fresh
tune --pool ssh:gpu01,refused >"$at/out" 2>"$at/err" && whole && grep -q 'refused.*Permission denied' "$at/err"
result $? 'a host that refuses is named, with its words, and the other does the work'

fresh
tune --pool ssh:gpu01,gpu02 >"$at/out" 2>"$at/err" &
tuner=$!
joined 2
left=$(workers)
kill -9 $(clients)
[ -n "$left" ] && ended "$left"
result $? 'no worker outlives a killed ssh'
wait $tuner && whole && grep -q 'is lost' "$at/err" && [ "$(grep -c 'joins' "$at/err")" -ge 3 ]
result $? 'both nodes come back, and no candidate is blamed'

# A connection that is open but silent, as after a pulled cable.
fresh
tune --pool ssh:gpu01,gpu02 >"$at/out" 2>"$at/err" &
tuner=$!
joined 2
stopped=$(clients | head -1)
kill -STOP "$stopped"
wait $tuner && whole && grep -q 'node gpu0. is lost: nothing was received from it' "$at/err"
result $? 'a connection that says nothing any more is given up'
kill -CONT "$stopped" 2>/dev/null

fresh
cat >"$at/nodes.cfg" <<EOF
nodes = ( { name = "far"; command = "ssh gpu01"; gpus = 2; cores = 2; private = true; } );
EOF
tune --pool "$at/nodes.cfg" >"$at/out" 2>"$at/err" && whole &&
    grep -q 'node far joins: .*; files are sent to it' "$at/err"
result $? 'a node that shares no files is sent them'

fresh
tune --pool ssh:gpu01 >"$at/out" 2>"$at/err" &
tuner=$!
measuring
left="$(workers) $(agents)"
kill -9 $tuner
wait $tuner 2>/dev/null
ended "$left"
result $? 'workers and agents end with a driver that is killed'
finish
