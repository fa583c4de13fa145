"""What only nests of GPUs have: workers, barriers, shared memory, task mappings."""
