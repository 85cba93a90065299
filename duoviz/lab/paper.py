"""The values that the paper reports (arXiv 2503.00784). None of them is measured by this project."""

CONDITIONS = (
    "The paper's own values, not measured here: target on a GPU in bfloat16, draft (68 million parameters, 5 bits) on "
    "16 threads of a CPU; batch 1, greedy, 128 new tokens at most (32 for question answering and retrieval), 10 "
    "warm-up prompts, total tokens over total time. There SpS has γ = 5 and its draft on the GPU."
)
NO_VALUES = "The paper gives no values for this."
FIGURE_1 = (
    "The paper's figure motivates its method: drafting 8 tokens on the CPU takes about as long as verifying 8 on the "
    "GPU, over a range of lengths. The paper gives no values for it."
)
FIGURE_3 = (
    "In the paper, DuoDecoding's time to the first token is 83 % of SpS's, which drafts before the target's first "
    "forward pass. The paper gives no values for the figure."
)
FIGURE_5 = "The paper's figure compares Math with Translation. The paper gives no values for it."

# Table 1, tokens per second: the seven tasks in the order of `tasks.TASKS`, then the average and φ.
TABLE_1 = {
    "Vicuna-7b-v1.5": {
        "vanilla": (44.78, 45.62, 44.29, 43.78, 44.65, 44.03, 45.10, 44.61, 1.00),
        "speculative": (63.65, 56.74, 66.77, 60.08, 63.38, 66.50, 67.57, 63.53, 1.42),
        "prompt_lookup": (62.66, 55.14, 95.31, 48.74, 66.03, 75.21, 55.81, 65.56, 1.47),
        "rest": (58.83, 49.85, 54.52, 65.82, 50.98, 60.76, 69.93, 58.67, 1.32),
        "lookahead": (62.18, 62.57, 58.72, 57.67, 66.70, 55.81, 59.34, 60.43, 1.35),
        "duodecoding": (74.73, 66.02, 73.76, 65.38, 68.54, 73.12, 72.00, 70.51, 1.58),
    },
    "Llama-2-7b": {
        "vanilla": (44.31, 44.10, 44.22, 43.87, 44.98, 39.99, 44.76, 43.75, 1.00),
        "speculative": (88.01, 96.39, 78.65, 56.94, 105.63, 49.73, 76.57, 78.85, 1.80),
        "prompt_lookup": (86.18, 100.69, 134.97, 52.29, 106.28, 79.84, 83.00, 91.89, 2.10),
        "rest": (62.17, 55.53, 54.32, 64.45, 56.98, 53.31, 73.41, 60.02, 1.37),
        "lookahead": (73.54, 77.74, 61.88, 47.48, 85.22, 45.49, 68.33, 65.67, 1.50),
        "duodecoding": (101.67, 139.08, 85.84, 139.57, 150.67, 92.58, 89.52, 114.13, 2.61),
    },
}

# Tables 2 and 3, Llama-2-7b, tokens per second: the four tasks in the order of `plan.FOUR_TASKS`.
TABLE_2 = {
    "duodecoding-k1": (98.71, 131.15, 149.68, 89.06),
    "duodecoding-k2": (102.30, 118.48, 136.00, 84.15),
    "duodecoding-k3": (101.22, 113.42, 124.76, 80.54),
    "duodecoding": (101.67, 139.08, 150.67, 89.52),
}
TABLE_3 = {
    "duodecoding-k1-gamma-2": (97.44, 128.65, 145.32, 87.47),
    "duodecoding-k1-gamma-1": (97.77, 130.75, 147.90, 89.00),
    "duodecoding-k1": (98.71, 131.15, 149.68, 89.06),
    "duodecoding-k1-gamma+1": (98.08, 130.90, 147.12, 88.00),
    "duodecoding-k1-gamma+2": (98.38, 130.37, 148.60, 87.11),
}
