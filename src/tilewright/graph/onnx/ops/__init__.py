"""ONNX operator type → translator, onnxruntime's own too, and why others cannot be taken.

Translators cover all opsets; each says where opsets differ. An operator in neither table is taken
by its definition in ONNX (`onnx_functions`).
"""

from tilewright.graph.onnx.ops.call import Translator
from tilewright.graph.onnx.ops.contraction import CONTRACTION
from tilewright.graph.onnx.ops.elementwise import ELEMENTWISE, binarize
from tilewright.graph.onnx.ops.indexing import INDEXING
from tilewright.graph.onnx.ops.movement import MOVEMENT, last_columns
from tilewright.graph.onnx.ops.onnxruntime import FUSED
from tilewright.graph.onnx.ops.qlinear import QLINEAR
from tilewright.graph.onnx.ops.quantised import QUANTISED
from tilewright.graph.onnx.ops.recurrent import RECURRENT
from tilewright.graph.onnx.ops.reduction import REDUCTION
from tilewright.graph.onnx.ops.sampling import SAMPLING
from tilewright.graph.onnx.ops.selection import SELECTION
from tilewright.graph.onnx.ops.sequences import SEQUENCES
from tilewright.graph.onnx.ops.signal import SIGNAL
from tilewright.graph.onnx.ops.window import WINDOW

TRANSLATORS: dict[str, Translator] = (
    ELEMENTWISE | MOVEMENT | CONTRACTION | WINDOW | REDUCTION | INDEXING
) | (SAMPLING | QUANTISED | RECURRENT | SELECTION | SIGNAL | SEQUENCES)

ONNXRUNTIME = "com.microsoft"

CLASSICAL: dict[str, Translator] = {"ArrayFeatureExtractor": last_columns, "Binarizer": binarize}
"""Of what scikit-learn's pipelines become."""

DOMAINS: dict[str, dict[str, Translator]] = {
    "": TRANSLATORS,
    "ai.onnx": TRANSLATORS,
    "ai.onnx.ml": CLASSICAL,
    ONNXRUNTIME: FUSED | QLINEAR,
}


def translator_of(domain: str, op_type: str) -> Translator | None:
    """How an operator is translated; None if it is not."""
    return DOMAINS.get(domain, {}).get(op_type)


RANDOM = "it is random"
STRING = "strings are not supported"
OPTIONAL = "optional values are not supported"
STATIC = "both branches must give the same types and ranks, unless its condition is constant"
ROWS = "limits where data decide how many rows it stacks, or how much what it carries grows"

UNSUPPORTED: dict[str, str] = {
    **dict.fromkeys(("Bernoulli", "RandomNormal", "RandomUniform", "Multinomial"), RANDOM),
    **dict.fromkeys(("RandomNormalLike", "RandomUniformLike"), RANDOM),
    **dict.fromkeys(("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"), STRING),
    **dict.fromkeys(("Optional", "OptionalGetElement", "OptionalHasElement"), OPTIONAL),
    "ImageDecoder": "it decodes compressed images",
    "MaxRoiPool": "its bins are as large as data say",
}
"""Operators that are refused, with the reason."""

LIMITS: dict[str, str] = {
    "If": STATIC,
    "Loop": ROWS,
    **dict.fromkeys(("ConstantOfShape", "Expand"), "limits where data decide the shape"),
    **dict.fromkeys(("BatchNormalization", "Dropout"), "inference only"),
    "CumProd": "its axis must be constant; n² terms on GPUs",
    "CumSum": "its axis must be constant; n² terms on GPUs",
    "Det": "matrices of at most 5 rows",
    "Range": "limits where data decide how many elements it has",
    "Resize": "scales, sizes and roi must be constant",
    "RoiAlign": "sampling_ratio must be given",
    "MelWeightMatrix": "its inputs must be constant",
    "Slice": "the distance of its ends must be constant, or the step 1",
    "TfIdfVectorizer": "pools of integers",
    "TopK": "n² comparisons, of a constant k, on GPUs",
    "Upsample": "scales must be constant",
}
"""What of a supported operator is not taken, where that is not obvious: shapes, axes and the like
must always be known at import."""

MASKS = "no mask of four dimensions; no cache that is written in place"

THEIR_LIMITS: dict[str, str] = {
    "Attention": f"{MASKS}; no rotary positions",
    "DynamicQuantizeLSTM": "its weights must be constant",
    "GatherBlockQuantized": "rows, blocks along the last dimension; all but the indices constant",
    "GroupQueryAttention": "keys of earlier calls are as many as there are, in no longer buffer",
    "MatMulNBits": "weights and zero points must be constant",
    "MultiHeadAttention": MASKS,
    **dict.fromkeys(
        ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization"), "no mean, no variance"
    ),
}
"""The same of onnxruntime's operators."""
