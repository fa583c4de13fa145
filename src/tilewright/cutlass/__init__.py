"""Templates of CUTLASS as programs: matrix products and convolutions on tensor cores (Bolt).

    matches = matches_of(dag, target)          those templates that compute the DAG
    matches[0].short_list(40)                  parameters worth trying
    gene_of(matches[0], parameters)            a program as records have it
    native_of(dag, gene, target)               match and parameters of such a gene
    offered(dag, target)                       all such programs for a search
    refusal(dag, target)                       why there is none, or ""

A program is CUDA C++ that instantiates templates of the installed package; nothing is compiled here
(`build.native`).
"""

from tilewright.cutlass.genes import (
    Native,
    gene_of,
    matches_of,
    native_of,
    offered,
    reasons,
    refusal,
)
from tilewright.cutlass.template import KernelCall, Match, Program

__all__ = [
    "KernelCall",
    "Match",
    "Native",
    "Program",
    "gene_of",
    "matches_of",
    "native_of",
    "offered",
    "reasons",
    "refusal",
]
