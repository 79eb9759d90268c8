#!/usr/bin/env bash
# Scenarios on a machine with a GPU and no network: pack here what to carry, run it there.
#
#   gpu-lane.sh pack lane.tar.gz                 # in a checkout, where there is a package index
#   gpu-lane.sh run lane.tar.gz "H200"           # there; the GPU's name, or a part of it
#   gpu-lane.sh --dry-run pack lane.tar.gz       # says what it would do, and does nothing
#
# There the image has Python, PyTorch for its GPU and transformers; the rest is carried: a wheelhouse,
# the lock, the features, the model of yours if MODEL names a folder.
set -euo pipefail

TARGET_PYTHON=${TARGET_PYTHON:-3.12} # of the machine with the GPU
TARGET_MACHINE=${TARGET_MACHINE:-x86_64}
TARGET_GLIBC=${TARGET_GLIBC:-28}     # the 28 of 2.28: wheels for this one and for older ones are taken
CARRY=${CARRY:-}                     # more packages, when the image lacks them: "transformers"
MODEL=${MODEL:-}                     # a folder with config.json; without it the tiny model, written there
PYTHON=${PYTHON:-python3}
FEATURES=${FEATURES:-features}
OPTIONS=${OPTIONS:-}                 # more for pytest: "--router vllm-router"

# What `transformers serve` imports. No torch: it has to be the one that knows the GPU.
SERVING=(fastapi uvicorn pydantic openai requests rich)

dry=no
if [[ ${1:-} == --dry-run ]]; then
    dry=yes
    shift
fi
usage="gpu-lane.sh [--dry-run] pack FILE | run FILE DEVICE"
what=${1:?$usage}
file=${2:?$usage}

step() { # says a command, then runs it
    printf '+'
    printf ' %q' "$@"
    printf '\n'
    [[ $dry == yes ]] || "$@"
}

put() { # writes standard input to a file, or shows it
    printf '+ write %s\n' "$1"
    if [[ $dry == yes ]]; then sed 's/^/    /'; else cat >"$1"; fi
}

fresh() { # an empty folder that goes when this ends
    if [[ $dry == yes ]]; then
        folder=WORK
    else
        folder=$(mktemp -d)
        trap 'rm -rf "$folder"' EXIT
    fi
}

pack() {
    [[ -z $MODEL || -f $MODEL/config.json ]] || { echo "MODEL: no config.json in $MODEL" >&2; exit 2; }
    local -a more=()
    read -ra more <<<"$CARRY"
    local -a platforms=(--platform "manylinux2014_$TARGET_MACHINE")
    local minor # pip takes a platform by its word, not for what runs on it
    for ((minor = 5; minor <= TARGET_GLIBC; minor++)); do
        platforms+=(--platform "manylinux_2_${minor}_$TARGET_MACHINE")
    done
    fresh
    step mkdir -p "$folder/wheels"
    step "$PYTHON" -m pip wheel --quiet --no-deps --wheel-dir "$folder/wheels" .
    local own="$folder/wheels/staticfire.whl" # by its path: an index may have something else of that name
    [[ $dry == yes ]] || own=$(echo "$folder"/wheels/staticfire-*.whl)
    step "$PYTHON" -m pip download --quiet --dest "$folder/wheels" --only-binary=:all: \
        --python-version "$TARGET_PYTHON" "${platforms[@]}" --constraint requirements.lock \
        "$own" pytest-asyncio "${SERVING[@]}" ${more[@]+"${more[@]}"}
    step cp requirements.lock expectations.toml "$0" "$folder/"
    step cp -r "$FEATURES" "$folder/features"
    [[ -z $MODEL ]] || step cp -rL "$MODEL" "$folder/model"
    step tar -czf "$file" -C "$folder" .
    [[ $dry == yes ]] || du -h "$file"
}

run() {
    local device=${1:?$usage}
    fresh
    # The device first: nothing of this is worth anything on another one.
    printf '+ nvidia-smi names a device %q\n' "$device"
    if [[ $dry == no ]]; then
        names=$(nvidia-smi --query-gpu=name --format=csv,noheader)
        grep -qiF -- "$device" <<<"$names" || {
            echo "expected the device '$device', found: ${names:-none}" >&2
            exit 3
        }
    fi
    step tar -xzf "$file" -C "$folder"
    step "$PYTHON" -m venv --system-site-packages "$folder/venv"
    step "$folder/venv/bin/pip" install --quiet --no-index --find-links "$folder/wheels" \
        staticfire pytest-asyncio "${SERVING[@]}"
    local -a lane=(
        '[tool.staticfire.lanes.gpu]'
        'kind = "transformers"'
        "venv = '$folder/venv'"
        "device = '$device'"
    )
    [[ ! -d $folder/model ]] || lane+=("path = '$folder/model'")
    printf '%s\n' "${lane[@]}" '' '[tool.pytest]' 'staticfire_features = ["features"]' |
        put "$folder/pyproject.toml"
    local here=$PWD
    local -a options=()
    read -ra options <<<"$OPTIONS"
    step cd "$folder"
    step venv/bin/python -m staticfire lanes gpu
    step venv/bin/python -m pytest --engine-lane gpu features -q -r fEs ${options[@]+"${options[@]}"} \
        --engine-report "$here/gpu.html" --engine-report "$here/gpu.json"
}

case $what in
    pack) pack ;;
    run) run "${3:-}" ;;
    *) echo "$usage" >&2; exit 2 ;;
esac
