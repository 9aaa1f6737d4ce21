#!/bin/sh
# Install agentlas-memory for yourself, and its hook into the assistants that are here.
#
#   sh install.sh [--from FILE|DIR] [--dry-run] [--no-hosts] [--prefix DIR] [--python PATH]
#
#   --from FILE|DIR  a bundle (agentlas-memory-VERSION.tar.gz, or its unpacked folder) or a checkout;
#                    without it: the one that this script lies in
#   --dry-run        say what would be done, and do nothing
#   --no-hosts       leave the assistants alone
#   --prefix DIR     a folder of ours other than ~/.agentlas (AGENTLAS_HOME)
#   --python PATH    the interpreter to run on; without it a usable one is looked for
#
# It needs Python 3.10 or newer, and neither pip nor root. A bundle needs no network, unless it was
# made with --no-wheels. Nothing is put into your Python, no start file of your shell is edited.
# Running it again repairs.
set -eu

case $0 in */*.sh) here=${0%/*} ;; *.sh) here=. ;; *) here="" ;; esac # none: read from stdin
# The next lines become find_python.sh itself in a bundle.
if [ ! -f "${here:-scripts}/find_python.sh" ]; then
  echo "From standard input only the install.sh of a bundle can be run, or this one in its checkout." >&2
  exit 1
fi
. "${here:-scripts}/find_python.sh"
# Until here.

# Copy a bundle into a folder of ours and check the copy, before any of it is run: where a key is
# pinned, the signature by the version that is here; every file by SHA256SUMS and release.json.
# Prints the Pythons that it carries wheels for, then the path of its own wheel.
CHECK='
import base64, errno, gzip, hashlib, json, os, re, stat, subprocess, sys, tarfile

source, folder, home = sys.argv[1:]
WORD = "[A-Za-z0-9_+][A-Za-z0-9_.+-]*"
SUMS, RELEASE, SIGNATURE, KEY = "SHA256SUMS", "release.json", "release.json.sig", "release-key.pub"
TEXTS = (SUMS, RELEASE, SIGNATURE, KEY)
MIB = 1 << 20
TEXT, FILE, ALL, MANY = 4 * MIB, 512 * MIB, 2048 * MIB, 4096 # a bundle has 200 MiB in 200 files
HOLDS = """
import sys
from agentlas_memory.installer.runtimes.signature import main
sys.exit(9 if main(sys.argv[1:]) else 0)
"""
copied = {} # digest and size of each file, by its path in the bundle

class Pieces(gzip.GzipFile):
    # tarfile reads a header whole, however large it claims to be.
    def read(self, size=-1):
        if not 0 <= size <= TEXT or self.tell() > 2 * ALL:
            raise ValueError("it is too large")
        return super().read(size)

def copy_archive():
    with Pieces(source) as file, tarfile.open(fileobj=file, mode="r:") as archive:
        for count, entry in enumerate(archive):
            if count > MANY or not 0 <= entry.size <= FILE:
                raise ValueError("it is too large")
            name = entry.name.partition("/")[2]
            if not name or entry.isdir():
                continue
            copy(archive.extractfile(entry) if entry.isreg() else None, plain(name))

def copy_folder():
    take(SUMS)
    for name in (*named(), SIGNATURE, KEY):
        if name not in TEXTS[2:] or os.path.lexists(os.path.join(source, name)):
            take(name)
    for room in ("tools", "wheels"):
        for name in os.listdir(os.path.join(source, room)):
            if room + "/" + name not in copied:
                stop(1, "%s is no part of the bundle." % os.path.join(source, room, name[:80]))

def take(name):
    path = os.path.join(source, name)
    flags = sum(getattr(os, flag, 0) for flag in ("O_NONBLOCK", "O_NOFOLLOW", "O_BINARY"))
    if not stat.S_ISREG(os.lstat(path).st_mode):
        copy(None, name)
    with open(os.open(path, os.O_RDONLY | flags), "rb") as file:
        copy(file, name)

# What was hashed is what is used from here on, whatever becomes of the source.
def copy(file, name):
    if file is None:
        stop(1, "%s: holds %s, which is no plain file: no bundle holds that." % (source, name))
    path, digest, size = os.path.join(folder, name), hashlib.sha256(), 0
    room = min(TEXT if name in TEXTS else FILE, ALL - sum(one[1] for one in copied.values()))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "xb") as target:
        for piece in iter(lambda: file.read(MIB), b""):
            size += len(piece)
            if size > room:
                raise ValueError("%s is too large" % name)
            digest.update(piece)
            target.write(piece)
    copied[name] = digest.hexdigest(), size

def plain(name):
    if len(name) > 200 or not re.fullmatch("%s(/%s){0,3}" % (WORD, WORD), name):
        stop(1, "%s: holds %s, which no bundle holds." % (source, ascii(name[:80])))
    return name

def named():
    lines = [line.split("  ", 1) for line in text(SUMS).decode().splitlines()[:MANY]]
    return {plain(name): digest for digest, name in lines}

def text(name):
    if name not in copied:
        stop(1, "%s is missing." % os.path.join(source, name))
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()

# By the version that is here: what a bundle says of its own signature proves nothing.
def check_signature():
    pin = os.path.join(home, KEY)
    if not home or not os.path.lexists(pin):
        return
    if SIGNATURE not in copied:
        refuse("The bundle is not signed, and this machine takes releases by a pinned key.",
               "take a signed bundle; %s holds the key" % pin)
    text(RELEASE)
    with open(pin, "rb") as file:
        if len(base64.b64decode(file.read(TEXT).strip(), validate=True)) != 32:
            raise ValueError("%s holds no Ed25519 public key" % pin)
    answer = ask_signature(pin)
    if answer == 9:
        refuse("The release\x27s signature does not hold under the key that this machine has pinned.",
               "do not install it; only if you know from its maker that the key has changed, "
               "replace %s by hand" % pin)
    if answer != 0:
        tell("No version that is here can check the signature: the one in the bundle will, by its own code.")

def ask_signature(pin):
    files = [os.path.join(folder, name) for name in (RELEASE, SIGNATURE)]
    try:
        command = [installed_python(), "-I", "-c", HOLDS, *files, pin]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60).returncode
    except (OSError, subprocess.TimeoutExpired):
        return None

def installed_python():
    runtimes = os.path.join(home, "runtime")
    if os.name != "nt":
        return os.path.join(runtimes, "current", "bin", "python3")
    with open(os.path.join(runtimes, "current", "runtime.txt")) as file:
        return os.path.join(runtimes, file.read().strip(), "Scripts", "python.exe")

def check():
    sums, release = named(), json.loads(text(RELEASE))
    files = {plain(name): (one["sha256"], one["size"]) for name, one in release["files"].items()}
    for name in (*sums, *files):
        if name not in copied:
            stop(1, "%s is missing." % os.path.join(source, name))
    for name in sorted(copied.keys() - set(TEXTS) | files.keys() | sums.keys()):
        if sums.get(name) != copied[name][0]:
            stop(1, "%s is not what SHA256SUMS says." % os.path.join(source, name))
        if name != RELEASE and files.get(name) != copied[name]:
            stop(1, "%s is not what release.json says." % os.path.join(source, name))
    wheel, pythons = "wheels/" + release["wheel"], release["pythons"]
    if RELEASE not in sums or wheel not in files:
        stop(1, "SHA256SUMS does not name release.json and the wheel.")
    if not all(re.fullmatch("[0-9]{1,2}[.][0-9]{1,3}", python) for python in pythons):
        raise ValueError("it names a Python that is none")
    print(*pythons)
    print(wheel)

def tell(line):
    print("".join(one if one.isprintable() else "?" for one in line), file=sys.stderr)

def stop(code, *lines):
    for line in lines:
        tell(line)
    sys.exit(code)

def refuse(what, next_step):
    stop(3, "Error: " + what, "Nothing was changed: the version that was active is active still.",
         "Next: " + next_step)

try:
    copy_folder() if os.path.isdir(source) else copy_archive()
    check_signature()
    check()
except FileNotFoundError as error:
    stop(1, "%s is missing." % error.filename)
except Exception as error: # whatever it holds, it is told in one sentence
    if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
        sys.exit(4)
    told = str(error)[:300] or type(error).__name__
    stop(1, "%s: not a whole bundle of agentlas-memory (%s)." % (source, told))
'

NO_ROOM=4 # what CHECK and build_release.py end with where a disk is full
REFUSED=3 # what CHECK ends with where the signature does not hold, as the routine does

# Run the routine straight from the wheel or the checkout, by a Python that has nothing of ours yet.
START='
import sys
source = sys.argv.pop(1)
sys.path.insert(0, source)
import agentlas_memory
agentlas_memory.__path__.append(source) # in a checkout, some of its packages lie beside it
from agentlas_memory.installer.runtimes.bootstrap import main
sys.exit(main())
'

main() {
  from="" dry_run="" no_hosts="" prefix="" python="" checkout=""
  read_options "$@"
  home=${AGENTLAS_HOME:-${HOME:?is not set: it says where to install}/.agentlas}
  refuse_sudo
  [ -n "$dry_run" ] || sweep
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/agentlas-install.XXXXXX") ||
    fail "No temporary folder can be made in ${TMPDIR:-/tmp}: make room, or set TMPDIR to one with 500 MB." \
      "Nothing was changed."
  trap 'rm -rf "$scratch"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  find_usable
  open_source
  if [ -n "$checkout" ] && [ -n "$dry_run" ]; then
    plan_checkout
    return
  fi
  check_bundle
  install_bundle
  tell_what_next
}

read_options() {
  while [ $# -gt 0 ]; do
    case $1 in
      --from | --prefix | --python)
        [ -n "${2:-}" ] || wrong_use "$1 needs a value."
        set_option "$1" "$2"
        shift
        ;;
      --from=?* | --prefix=?* | --python=?*) set_option "${1%%=*}" "${1#*=}" ;;
      --dry-run) dry_run=yes ;;
      --no-hosts) no_hosts=yes ;;
      -h | --help) usage && exit 0 ;;
      *) wrong_use "$1 is no option of this script." ;;
    esac
    shift
  done
}

set_option() {
  case $1 in
    --from) from=$(absolute "$2") ;;
    --prefix) prefix=$(absolute "$2") && export AGENTLAS_HOME="$prefix" ;;
    --python) python=$2 ;;
  esac
}

absolute() {
  case $1 in /*) printf '%s\n' "$1" ;; *) printf '%s\n' "$PWD/$1" ;; esac
}

usage() {
  echo "sh install.sh [--from FILE|DIR] [--dry-run] [--no-hosts] [--prefix DIR] [--python PATH]"
}

wrong_use() {
  { echo "$1" && usage; } >&2
  exit 2
}

# fail LINE...: what happened, what was kept, what to do next.
fail() {
  printf '%s\n' "$@" >&2
  exit 1
}

say() {
  printf '%s\n' "$*" >&2
}

# What root leaves in somebody's home, its owner can neither use nor remove; and the other way round.
refuse_sudo() {
  me=$(id -u) owner=$(owner_of "$home")
  if [ "$me" = 0 ] && [ -n "${SUDO_UID:-${DOAS_USER:-}}" ]; then
    for place in "${HOME:-/}" "$home"; do
      owner=$(owner_of "$place")
      [ "$owner" = 0 ] ||
        fail "This runs as root, but $place belongs to user $owner: what root writes there, its owner cannot use." \
          "Nothing was changed. Run it again as that user, without sudo."
    done
  elif [ -d "$home" ] && [ "$me" != 0 ] && [ "$owner" != "$me" ]; then
    fail "$home belongs to user $owner, you are $me: left by a run as another user?" \
      "Nothing was changed. Take it over (sudo chown -R $me '$home'), or name another folder with --prefix."
  fi
}

# Print the number of the user who owns a folder, or the nearest one above that exists.
owner_of() {
  folder=$1
  while [ ! -d "$folder" ]; do folder=$(dirname -- "$folder"); done
  # shellcheck disable=SC2012 # numbers only
  ls -ldn "$folder/." | awk '{ print $3; exit }'
}

# What a killed run of ours left more than a day ago.
sweep() {
  find "${TMPDIR:-/tmp}/." -maxdepth 1 -type d -name 'agentlas-install.??????' -user "$me" \
    -mtime +0 -exec rm -rf {} + 2>/dev/null || :
}

# Every usable Python as "3.11 /path", the one to prefer first.
find_usable() {
  NEEDED=""
  if [ -n "$python" ]; then
    usable=$(probe "$python")
    [ -n "$usable" ] || fail "$python cannot be used: it takes Python 3.10 or newer, with venv and with FTS5 in its SQLite." \
      "Nothing was changed. Name another one, or leave --python out."
    return
  fi
  usable=$(usable_pythons)
  [ -n "$usable" ] || fail "No usable Python was found: it takes Python 3.10 or newer, with venv and with FTS5 in its SQLite." \
    "Nothing was changed. Install one (python3 of your system, Homebrew, pyenv or uv), or name it with --python PATH."
}

# Print the path of the first usable Python whose version is among these words.
python_among() {
  printf '%s\n' "$usable" | while read -r version path; do
    case " $1 " in *" $version "*) printf '%s\n' "$path" && break ;; esac
  done
}

first_python() {
  found=$(python_among "3.10 3.11 3.12 3.13") # what is tested
  [ -n "$found" ] || found=$(printf '%s\n' "$usable" | sed -n '1s/^[^ ]* //p')
  printf '%s\n' "$found"
}

# Leave in `bundle` the archive or the folder to install from.
open_source() {
  [ -n "$from" ] || case $here in
    "") fail "Read from standard input, this script needs --from FILE|DIR." "Nothing was changed." ;;
    *) from=$(CDPATH="" cd -- "$here" && pwd) ;;
  esac
  case $from in */scripts) [ ! -f "$from/build_release.py" ] || from=${from%/scripts} ;; esac
  if [ -f "$from/scripts/build_release.py" ]; then
    build_from_checkout
  elif [ -f "$from" ] || [ -f "$from/SHA256SUMS" ]; then
    bundle=$from
  else
    bundle=$(only_archive "$from")
  fi
}

# Print the one archive in a folder such as a channel's.
only_archive() {
  set -- "$1"/agentlas-memory-*.tar.gz
  [ $# = 1 ] && [ -f "$1" ] ||
    fail "${1%/*} holds no bundle of agentlas-memory, or several: name one with --from FILE." \
      "Nothing was changed."
  printf '%s\n' "$1"
}

# A bundle for one Python, from the files as they stand; it is not signed.
build_from_checkout() {
  checkout=yes
  builder=$(first_python)
  version=$(printf '%s\n' "$usable" | awk -v path="$builder" 'index($0, path) { print $1; exit }')
  case $version in
    3.1[0-3]) ;;
    *) fail "A checkout is built for Python 3.10 to 3.13, not $version." "Nothing was changed." ;;
  esac
  [ -z "$dry_run" ] || return 0
  say "Building from $from, for Python $version: fetches some 40 wheels"
  bundle=$("$builder" -B -E -s "$from/scripts/build_release.py" --allow-dirty --folder \
    --python "$version" --output "$scratch/built" </dev/null) ||
    not_built $?
}

# Nothing is fetched or built only to say what would be done.
plan_checkout() {
  say "Would fetch some 40 wheels and build $from, for Python $version, in a temporary folder"
  "$builder" -B -I -c "$START" "$from" "$from" --dry-run --checkout ${no_hosts:+--no-hosts} \
    </dev/null || exit $?
}

not_built() {
  [ "$1" != "$NO_ROOM" ] || fail "Nothing was changed." # it has said whose disk is full
  fail "The checkout could not be built; the lines above say why." \
    "Nothing was changed. Building needs a package index, and pip in a Python: python3-venv or python3-pip on Debian." \
    "A bundle needs neither: sh install.sh --from agentlas-memory-VERSION.tar.gz"
}

# Leave in `bundle` the copy that was checked, in `wheel` its wheel, in `python` ours.
check_bundle() {
  pinned=$home # a checkout is the person's own: no key speaks for it
  [ -z "$checkout" ] || pinned=""
  checked=$("$(first_python)" -I -c "$CHECK" "$bundle" "$scratch/bundle" "$pinned" </dev/null) ||
    not_whole $?
  bundle=$scratch/bundle
  carried=$(printf '%s\n' "$checked" | sed -n 1p)
  wheel=$bundle/$(printf '%s\n' "$checked" | sed -n 2p)
  if [ -n "$carried" ]; then python=$(python_among "$carried"); else python=$(first_python); fi
  [ -n "$python" ] ||
    fail "This bundle carries wheels for Python $carried; here is: $(printf '%s\n' "$usable" | tr '\n' ' ')" \
      "Nothing was changed. Install one of these, or take a bundle made with --no-wheels."
}

not_whole() {
  [ "$1" != "$REFUSED" ] || exit "$REFUSED"
  [ "$1" != "$NO_ROOM" ] ||
    fail "The temporary folder ${TMPDIR:-/tmp} is full: make room, or set TMPDIR to one with 500 MB." \
      "Nothing was changed."
  fail "Nothing was changed. Fetch the bundle again, or build it again."
}

install_bundle() {
  say "Installing with $python"
  "$python" -I -c "$START" "$wheel" "$bundle" ${dry_run:+--dry-run} ${no_hosts:+--no-hosts} \
    ${checkout:+--checkout} </dev/null || exit $?
}

tell_what_next() {
  [ -z "$dry_run" ] || return 0
  [ -z "$prefix" ] || home=$prefix
  program=$home/runtime/current/bin/agentlas-memory
  command=$(quoted "$program")
  # The routine links it into ~/.local/bin, if that name is free there.
  [ "$(readlink "$(command -v agentlas-memory)" 2>/dev/null)" != "$program" ] || command=agentlas-memory
  if [ -n "$prefix" ]; then
    echo "Set it for your shell and for your assistants, which look in ~/.agentlas without it:"
    echo "  export AGENTLAS_HOME=$(quoted "$prefix")"
  fi
  echo "In a project: $command init && $command index"
  echo "To undo it:   $command uninstall --purge"
}

# Print a word as a shell takes it.
quoted() {
  case $1 in
    *[!A-Za-z0-9_./~+-]*) printf "'%s'\n" "$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf '%s\n' "$1" ;;
  esac
}

main "$@"
