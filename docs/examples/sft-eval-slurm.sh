#!/usr/bin/env bash
#SBATCH --job-name=sft-eval
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --time=12:00:00
#
# Supervised fine-tuning on all nodes, then an evaluation of what came of it: an engine with the new
# checkpoint on the first node, and the evaluation when it serves.
#
#   sbatch sft-eval-slurm.sh
#
# The gate is told the engine's process: when it dies while it loads, the wait ends at once, so that a
# plain `wait` will do.
set -euo pipefail

CHECKPOINT=${CHECKPOINT:-checkpoints/sft}
PORT=${PORT:-8000}
STARTUP=${STARTUP:-1800} # seconds until the gate gives up

mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
url=http://${nodes[0]}:$PORT

srun --kill-on-bad-exit=1 \
    torchrun --nnodes="${#nodes[@]}" --nproc-per-node=8 train_sft.py --output "$CHECKPOINT"

jobs=()
stop() {
    kill "${jobs[@]}" 2>/dev/null || true
    wait
}
trap stop EXIT
trap 'exit 143' TERM INT

vllm serve "$CHECKPOINT" --port "$PORT" --tensor-parallel-size 8 &
engine=$!
staticfire gate --timeout "$STARTUP" --worker "$url" --model "$CHECKPOINT" --pid "$url=$engine" -- \
    lm_eval --model local-chat-completions --tasks gsm8k \
    --model_args "model=$CHECKPOINT,base_url=$url/v1/chat/completions" &
evaluation=$!
jobs=("$engine" "$evaluation")
wait "$evaluation"
