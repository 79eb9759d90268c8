#!/usr/bin/env bash
#SBATCH --job-name=inference
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --time=08:00:00
#
# An engine on every node, and a router in front that starts when all of them serve.
#
#   sbatch inference-slurm.sh
#   PREFILL_NODES=1 sbatch inference-slurm.sh    # one node prefills, the others decode
#
# Whatever ends first ends the job: the engines, the gate when the time ran out, or the router that
# it has become. Needs bash 5.1 for `wait -n -p`.
set -euo pipefail

MODEL=${MODEL:-Qwen/Qwen3-32B}
PORT=${PORT:-8000}                # of each engine
ROUTER_PORT=${ROUTER_PORT:-30000} # of the router, on the first node
PREFILL_NODES=${PREFILL_NODES:-0} # 0: every node prefills and decodes
STARTUP=${STARTUP:-4200}          # seconds until the gate gives up

mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
urls=("${nodes[@]/#/http://}")
urls=("${urls[@]/%/:$PORT}")

engine=(vllm serve "$MODEL" --port "$PORT" --tensor-parallel-size 8)
if ((PREFILL_NODES == 0)); then
    router=(staticfire router --policy sticky --worker-urls "${urls[@]}")
else
    engine+=(--kv-transfer-config '{"kv_connector": "NixlConnector", "kv_role": "kv_both"}')
    router=(vllm-router --policy consistent_hash --vllm-pd-disaggregation)
    for url in "${urls[@]:0:PREFILL_NODES}"; do router+=(--prefill "$url"); done
    for url in "${urls[@]:PREFILL_NODES}"; do router+=(--decode "$url"); done
fi
router+=(--host 0.0.0.0 --port "$ROUTER_PORT")

jobs=()
stop() {
    kill "${jobs[@]}" 2>/dev/null || true
    wait
}
trap stop EXIT
trap 'exit 143' TERM INT

srun --kill-on-bad-exit=1 "${engine[@]}" &
engines=$!
staticfire gate --timeout "$STARTUP" -- "${router[@]}" &
front=$! # the gate, then the router: one process, one PID
jobs=("$engines" "$front")

code=0
wait -n -p ended "${jobs[@]}" || code=$?
case $ended in
    "$engines") echo "an engine ended with $code" >&2 ;;
    "$front") echo "the gate, or the router behind it, ended with $code" >&2 ;;
esac
exit "$code"
