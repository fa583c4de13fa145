"""LLVM IR from prepared nests, as text in SSA form, and object code from that."""
