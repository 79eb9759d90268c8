#!/usr/bin/env bash
#SBATCH --job-name=rl
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --time=24:00:00
#
# Reinforcement learning: engines for rollouts on the first nodes, the trainer on the others. The
# router starts when the engines serve, the trainer when the router does: two gates, one for each.
#
#   sbatch rl-slurm.sh
#   PREFILL_NODES=1 sbatch rl-slurm.sh    # of the engines' nodes one prefills, the others decode
#
# The job ends with the trainer, or as soon as something that it needs has ended. Needs bash 5.1.
set -euo pipefail

MODEL=${MODEL:-Qwen/Qwen3-32B}
PORT=${PORT:-8000}                # of each engine
ROUTER_PORT=${ROUTER_PORT:-30000} # of the router, on the first node
ENGINE_NODES=${ENGINE_NODES:-2}   # the others train
PREFILL_NODES=${PREFILL_NODES:-0} # 0: every engine prefills and decodes
STARTUP=${STARTUP:-4200}          # seconds until a gate gives up

mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
rollout=("${nodes[@]:0:ENGINE_NODES}")
train=("${nodes[@]:ENGINE_NODES}")
urls=("${rollout[@]/#/http://}")
urls=("${urls[@]/%/:$PORT}")
front_url=http://${nodes[0]}:$ROUTER_PORT

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
trainer=(torchrun --nnodes="${#train[@]}" --nproc-per-node=8 train_rl.py --rollout-url "$front_url/v1")

on() { # a step on the nodes that are named
    local IFS=,
    echo "--nodelist=$*"
}
jobs=()
stop() {
    kill "${jobs[@]}" 2>/dev/null || true
    wait
}
trap stop EXIT
trap 'exit 143' TERM INT

srun --kill-on-bad-exit=1 --nodes="${#rollout[@]}" "$(on "${rollout[@]}")" "${engine[@]}" &
engines=$!
staticfire gate --timeout "$STARTUP" -- "${router[@]}" &
front=$!
staticfire gate --timeout "$STARTUP" --worker "$front_url" --model "$MODEL" -- \
    srun --kill-on-bad-exit=1 --nodes="${#train[@]}" "$(on "${train[@]}")" "${trainer[@]}" &
training=$!
jobs=("$engines" "$front" "$training")

code=0
wait -n -p ended "${jobs[@]}" || code=$?
case $ended in
    "$training") echo "the trainer ended with $code" >&2 && exit "$code" ;;
    "$engines") echo "an engine ended with $code while it was needed" >&2 ;;
    "$front") echo "the router, or the gate before it, ended with $code while it was needed" >&2 ;;
esac
exit 1
