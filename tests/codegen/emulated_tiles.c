/* Intel's tile registers by their definition, a state a thread. Rows and columns beyond those that
   are configured are an error, as on the machine. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local struct { uint8_t palette, start, reserved[14]; uint16_t width[16]; uint8_t height[16]; } set;
static _Thread_local uint8_t tile[8][16][64];

static void check(int8_t t) {
    if (set.palette != 1 || !set.height[t] || !set.width[t] || set.height[t] > 16 || set.width[t] > 64) abort();
}
void emulated_ldtilecfg(const void *table) { memcpy(&set, table, 64); memset(tile, 0, sizeof tile); }
void emulated_tilerelease(void) { memset(&set, 0, sizeof set); }
void emulated_tileloadd64(int8_t t, const uint8_t *from, int64_t stride) {
    check(t);
    memset(tile[t], 0, sizeof tile[t]);
    for (int r = 0; r < set.height[t]; r++) memcpy(tile[t][r], from + r * stride, set.width[t]);
}
void emulated_tilezero(int8_t t) {
    check(t);
    memset(tile[t], 0, sizeof tile[t]);
}
void emulated_tilestored64(int8_t t, uint8_t *to, int64_t stride) {
    check(t);
    for (int r = 0; r < set.height[t]; r++) memcpy(to + r * stride, tile[t][r], set.width[t]);
}
#define DOT(name, A, B) \
    void emulated_##name(int8_t c, int8_t a, int8_t b) { \
        check(a), check(b), check(c); \
        if (set.width[a] != 4 * set.height[b] || set.height[c] != set.height[a] || set.width[c] != set.width[b]) abort(); \
        for (int i = 0; i < set.height[c]; i++) \
            for (int j = 0; 4 * j < set.width[c]; j++) { \
                uint32_t sum; \
                memcpy(&sum, &tile[c][i][4 * j], 4); \
                for (int k = 0; k < set.width[a]; k++) \
                    sum += (uint32_t)((int32_t)(A)tile[a][i][k] * (int32_t)(B)tile[b][k / 4][4 * j + k % 4]); \
                memcpy(&tile[c][i][4 * j], &sum, 4); \
            } \
    }
DOT(tdpbssd, int8_t, int8_t)
DOT(tdpbsud, int8_t, uint8_t)
DOT(tdpbusd, uint8_t, int8_t)
DOT(tdpbuud, uint8_t, uint8_t)
static float wide(const uint8_t *half) {
    uint32_t bits = (uint32_t)(half[0] | half[1] << 8) << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
void emulated_tdpbf16ps(int8_t c, int8_t a, int8_t b) {
    check(a), check(b), check(c);
    if (set.width[a] != 4 * set.height[b] || set.height[c] != set.height[a] || set.width[c] != set.width[b]) abort();
    for (int i = 0; i < set.height[c]; i++)
        for (int j = 0; 4 * j < set.width[c]; j++) {
            float sum;
            memcpy(&sum, &tile[c][i][4 * j], 4);
            for (int k = 0; 2 * k < set.width[a]; k++)
                sum += wide(&tile[a][i][2 * k]) * wide(&tile[b][k / 2][4 * j + 2 * (k % 2)]);
            memcpy(&tile[c][i][4 * j], &sum, 4);
        }
}
