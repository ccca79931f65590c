# Sourced by e2e/run and e2e/story: tools, clients, isolation and checks.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CACHE=${VADE_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vade-e2e}
RUNS=${KEEP:-$(mktemp -d)}
mkdir -p "$CACHE" "$RUNS"
[ -n "${KEEP:-}" ] || trap 'rm -rf "$RUNS"' EXIT
export ROOT CACHE RUNS

# packages are the npm packages of the clients.
declare -A packages=(
  [claude]=@anthropic-ai/claude-code [codex]=@openai/codex [copilot]=@github/copilot [gemini]=@google/gemini-cli
  [qwen]=@qwen-code/qwen-code [opencode]=opencode-ai [pi]=@earendil-works/pi-coding-agent [cline]=cline
)

need_tools() {
  local tool
  for tool in go git npm unshare flock; do
    command -v "$tool" >/dev/null || { echo "e2e: $tool is missing" >&2 && exit 2; }
  done
}

# build makes vade and the mock, as programs of this run.
build() {
  (cd "$ROOT" && CGO_ENABLED=0 go build -o "$RUNS/bin/vade" ./cmd/vade && CGO_ENABLED=0 go build -o "$RUNS/bin/mock" ./e2e/agents/mock) || exit 2
}

# npm_install DIR PACKAGE: installs a package into a folder of the cache, once.
npm_install() {
  local dir=$CACHE/$1
  [ -e "$dir/done" ] && return
  mkdir -p "$dir" && echo '{"private":true}' >"$dir/package.json"
  (cd "$dir" && PATH="$CACHE/node/node_modules/node/bin:$PATH" npm install --no-audit --no-fund --loglevel=error "$2" </dev/null) &&
    touch "$dir/done" || { echo "e2e: npm could not install $2" >&2 && exit 2; }
}

# install_clients CLIENT…: all at once, as they wait for the network. Another
# run that installs the same is waited for.
install_clients() {
  exec 9>"$CACHE/lock" && flock 9
  npm_install node node@22 # with an older one, npm picks old clients without a word
  local client jobs=()
  for client in "$@"; do
    [ -n "${packages[$client]:-}" ] || { echo "e2e: unknown client $client; known: ${!packages[*]}" >&2 && exit 2; }
    install_client "$client" &
    jobs+=($!)
  done
  for client in "${jobs[@]}"; do wait "$client" || exit 2; done
  exec 9>&-
}

install_client() {
  npm_install "$1" "${packages[$1]}"
  # OpenCode installs this at its start, and offline waits 100 s for it.
  [ "$1" != opencode ] || npm_install opencode-plugin "@opencode-ai/plugin@$(
    sed -n 's/^  "version": "\(.*\)",$/\1/p' "$CACHE/opencode/node_modules/opencode-ai/package.json"
  )"
}

# isolated COMMAND…: runs it where there is nothing but loopback, and ends with
# it whatever it leaves behind. Names are asked of loopback, which answers at once
# that there is nobody, where another server would be waited for.
isolated() {
  local user=()
  [ "$(id -u)" = 0 ] || user=(--user --map-root-user)
  echo "nameserver 127.0.0.1" >"$RUNS/resolv.conf"
  unshare "${user[@]}" --mount --net --pid --fork --kill-child --mount-proc -- \
    sh -c 'mount --bind "$0" /etc/resolv.conf 2>/dev/null; exec "$@"' "$RUNS/resolv.conf" "$@" </dev/null
}

# vade_in RUN ARGS…: vade as the user of that run has it.
vade_in() {
  local run=$1
  shift
  env -i HOME="$run/home" PATH=/usr/local/bin:/usr/bin:/bin VADE_IDENTITY=todd VADE_NO_BACKGROUND=1 "$RUNS/bin/vade" "$@"
}

# captured RUN WORD: what hooks captured is in the vault, and holds WORD; a
# backfill finds the same turn in the client's own transcript, and knows it.
captured() {
  vade_in "$1" journal drain --all
  grep -rq "$2" "$1/home/.local/share/vade/todd/vault/sessions" || return
  vade_in "$1" backfill --json >"$1.backfill" || return
  grep -q '"known": [1-9]' "$1.backfill" && ! grep -q '"added": [1-9]' "$1.backfill"
}

# told RUN WORD: the very first call of a model that was answered with a call
# of a tool had WORD in it.
told() { grep -m1 '"reply_tool"' "$1/mock.jsonl" | grep -q "\"seen\":\[[^]]*\"$2\""; }

# recalled RUN WORD: no call of a model had WORD in it before a tool was
# called, and one had it afterwards.
recalled() {
  ! grep -m1 '"reply_tool"' "$1/mock.jsonl" | grep -q "\"$2\"" && grep -q "\"seen\":\[[^]]*\"$2\"" "$1/mock.jsonl"
}
