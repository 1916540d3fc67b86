#!/usr/bin/env bash
# Tests and measures on this machine's GPU, compares with cuBLAS, the driver's copy
# and PyTorch where they are installed, and writes the figures as JSON lines.
#
#   run.sh [FOLDER] [arguments of gpu, such as --quick or --device cpu]
#
# With arguments of gpu, it runs that alone.
#
# FOLDER is $OUT, or ./figures, where none is given. Ends with 1 where a check
# failed.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${OUT:-figures}
if [[ $# -gt 0 && $1 != -* ]]; then
    folder=$1
    shift
fi
mkdir -p "$folder"

# NVRTC where nothing else has it: PyTorch brings one along.
if [[ -z ${TILE_NVRTC:-} ]] && command -v python3 >/dev/null; then
    found=$(python3 - <<'PYTHON'
import glob, os, site, sys

folders = site.getsitepackages() + [site.getusersitepackages()] + sys.path
for folder in folders:
    for pattern in ("nvidia/cu1*/lib", "nvidia/cuda_nvrtc/lib"):
        for lib in sorted(glob.glob(os.path.join(folder, pattern)), reverse=True):
            if glob.glob(os.path.join(lib, "libnvrtc.so.*")):
                print(lib)
                sys.exit()
PYTHON
    )
    toolkit=${CUDA_HOME:-/usr/local/cuda}
    if [[ -n $found && ! -e $toolkit/lib64/libnvrtc.so ]]; then
        export TILE_NVRTC=$found
    fi
fi

# cuBLAS in the same way; the system's loader is asked where there is no wheel.
if [[ -z ${TILE_CUBLAS:-} ]] && command -v python3 >/dev/null; then
    found=$(python3 - <<'PYTHON'
import glob, os, site, sys

folders = site.getsitepackages() + [site.getusersitepackages()] + sys.path
for folder in folders:
    for pattern in ("nvidia/cu1*/lib", "nvidia/cublas/lib"):
        for lib in sorted(glob.glob(os.path.join(folder, pattern)), reverse=True):
            if glob.glob(os.path.join(lib, "libcublas.so.*")):
                print(lib)
                sys.exit()
PYTHON
    )
    if [[ -n $found ]]; then
        export TILE_CUBLAS=$found
    fi
fi

status=0
if [[ $# -gt 0 ]]; then
    exec "$here/gpu" --out "$folder/figures.jsonl" "$@"
fi
"$here/peers" --out "$folder/peers.jsonl" || status=1
"$here/gpu" --out "$folder/figures.jsonl" || status=1
"$here/gallery" --out "$folder/gallery.jsonl" || status=1
if command -v python3 >/dev/null && python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    python3 "$here/torch_peers.py" --out "$folder/torch.jsonl" || status=1
else
    echo "SKIPPED: the comparison with PyTorch, which is not installed or finds no GPU"
fi
exit $status
