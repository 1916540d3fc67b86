"""PyTorch (cuBLAS) on the same work as `gpu`, in the same form.

    python3 torch_peers.py --out torch.jsonl

Float32 without TF32, random data, the same shapes. A sample is one replay of a
CUDA graph of at least 20 launches between two events, as in `gpu`; a figure is
the median of the samples, in seconds per launch.
"""

import argparse
import json
import statistics

import torch

MATMUL_SHAPES = [
    (512, 512, 512),
    (1000, 1000, 1000),
    (1024, 1024, 1024),
    (2048, 2048, 2048),
    (4095, 4095, 4095),
    (4096, 4096, 4096),
    (8192, 8192, 8192),
    (4096, 1024, 8192),
]
TRANSPOSE_SHAPES = [(4096, 4096), (8192, 8192), (8191, 8191), (16384, 16384)]
ADD_SIZES = [1 << 20, 1 << 24, 1 << 28]
LAUNCHES_PER_SAMPLE = 20
SAMPLES = 15


def seconds_per_launch(launch):
    """The median over samples of a graph of launches."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            launch()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(LAUNCHES_PER_SAMPLE):
            launch()
    samples = []
    with torch.cuda.stream(stream):
        for _ in range(SAMPLES + 2):
            start = torch.cuda.Event(enable_timing=True)
            end = torch.cuda.Event(enable_timing=True)
            start.record(stream)
            graph.replay()
            end.record(stream)
            end.synchronize()
            samples.append(start.elapsed_time(end) / 1e3 / LAUNCHES_PER_SAMPLE)
    return statistics.median(samples[2:])


def figure(kernel, shape, seconds, flops=None, moved_bytes=None):
    found = {
        "kind": "time",
        "library": f"torch {torch.__version__}",
        "kernel": kernel,
        "type": "f32",
        "shape": list(shape),
        "seconds": seconds,
    }
    if flops is not None:
        found["tflop_per_s"] = flops / seconds / 1e12
    if moved_bytes is not None:
        found["gb_per_s"] = moved_bytes / seconds / 1e9
    return found


def figures():
    for m, n, k in MATMUL_SHAPES:
        a = torch.rand(m, k, device="cuda") * 2 - 1
        b = torch.rand(k, n, device="cuda") * 2 - 1
        c = torch.empty(m, n, device="cuda")
        seconds = seconds_per_launch(lambda: torch.matmul(a, b, out=c))
        yield figure("matmul", (m, n, k), seconds, flops=2 * m * n * k)
    for rows, cols in TRANSPOSE_SHAPES:
        a = torch.rand(rows, cols, device="cuda")
        b = torch.empty(cols, rows, device="cuda")
        seconds = seconds_per_launch(lambda: b.copy_(a.t()))
        yield figure("transpose", (rows, cols), seconds, moved_bytes=8 * rows * cols)
        flat, copied = a.view(-1), b.view(-1)
        seconds = seconds_per_launch(lambda: copied.copy_(flat))
        yield figure("copy", (rows * cols,), seconds, moved_bytes=8 * rows * cols)
    for n in ADD_SIZES:
        a = torch.rand(n, device="cuda")
        b = torch.rand(n, device="cuda")
        c = torch.empty(n, device="cuda")
        seconds = seconds_per_launch(lambda: torch.add(a, b, out=c))
        yield figure("add", (n,), seconds, moved_bytes=12 * n)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True, help="the file for the figures, JSON lines")
    arguments = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    with open(arguments.out, "w", encoding="utf-8") as out:
        for found in figures():
            print(json.dumps(found), flush=True)
            out.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
