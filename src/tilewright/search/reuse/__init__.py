"""Reuse of one operator's good program for another: which operators are of one type, which loop
nests dominate which, and what operators stand between them. Source: ETO (Fang, Shen, Wang, Chen:
"ETO: Accelerating Optimization of DNN Operators by High-Performance Tensor Program Reuse", PVLDB
15(2), 2021).
"""
