/* Denormal floats run at 1 % of normal speed on x86, so kernels run with flush-to-zero: FTZ and
   DAZ of x86's MXCSR, FZ of AArch64's FPCR. That mode belongs to a thread; each call puts back
   what it found. */

#ifndef TILEWRIGHT_FLOAT_MODE_H
#define TILEWRIGHT_FLOAT_MODE_H

#include <stdint.h>

#if defined(__x86_64__)
enum { TW_FLUSH = 0x8040 };
static inline uint64_t tw_float_mode(void) { return __builtin_ia32_stmxcsr(); }
static inline void tw_set_float_mode(uint64_t mode) { __builtin_ia32_ldmxcsr((uint32_t)mode); }
#elif defined(__aarch64__)
enum { TW_FLUSH = 1 << 24 };
static inline uint64_t tw_float_mode(void) {
  uint64_t mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
static inline void tw_set_float_mode(uint64_t mode) {
  __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}
#else
#error "compiled functions run on x86-64 and AArch64"
#endif

static inline void tw_flush_denormals(void) { tw_set_float_mode(tw_float_mode() | TW_FLUSH); }

#endif
