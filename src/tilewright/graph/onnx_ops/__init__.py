"""ONNX operator type → translator; a type that is missing here is unsupported.

Translators cover all opsets since 7 (older models are converted first); each says where opsets
differ.
"""

from tilewright.graph.onnx_ops.call import Translator
from tilewright.graph.onnx_ops.contraction import CONTRACTION
from tilewright.graph.onnx_ops.elementwise import ELEMENTWISE
from tilewright.graph.onnx_ops.movement import MOVEMENT
from tilewright.graph.onnx_ops.reduction import REDUCTION
from tilewright.graph.onnx_ops.window import WINDOW

TRANSLATORS: dict[str, Translator] = {
    **ELEMENTWISE,
    **MOVEMENT,
    **CONTRACTION,
    **WINDOW,
    **REDUCTION,
}
