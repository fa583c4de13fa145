/* Runs every kernel of the generated table KERNELS once, each in a process of its own.

   usage: prog INPUTS OUTPUTS      INPUTS: all input buffers, back to back; OUTPUTS is written so

   Buffers end at a page without access; outputs and scratch are poisoned before the run. A line
   "number status" is printed for each kernel: 0, a signal as a negative number, 3 for bytes written
   beside a buffer. */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 65536, POISON = 0xFF, SLACK = 0xA5, WROTE_OUTSIDE = 3, FAILED = 4 };

typedef void entry_fn(void **buffers, int64_t *params, void *scratch);

struct kernel {
    entry_fn *entry;
    int inputs, outputs;
    const int64_t *bytes; /* of every input, every output, the scratch block */
};

#include "kernels.h"

struct buffer {
    unsigned char *pages, *data;
    int64_t page_bytes, bytes;
};

static struct buffer guarded(int64_t bytes) {
    struct buffer b = {.bytes = bytes, .page_bytes = (bytes / PAGE + 1) * PAGE};
    b.pages = mmap(0, b.page_bytes + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b.pages == MAP_FAILED || mprotect(b.pages + b.page_bytes, PAGE, PROT_NONE)) {
        perror("mmap");
        _exit(FAILED);
    }
    b.data = b.pages + b.page_bytes - (bytes + 63) / 64 * 64;
    memset(b.pages, SLACK, b.page_bytes);
    memset(b.data, POISON, bytes);
    return b;
}

static int slack_intact(struct buffer b) {
    for (unsigned char *p = b.pages; p < b.pages + b.page_bytes; p++)
        if ((p < b.data || p >= b.data + b.bytes) && *p != SLACK)
            return 0;
    return 1;
}

static void run(struct kernel k, int in, int64_t in_at, int out, int64_t out_at) {
    int count = k.inputs + k.outputs;
    struct buffer buffers[count + 1];
    void *pointers[count];
    for (int i = 0; i <= count; i++) {
        buffers[i] = guarded(k.bytes[i]);
        if (i < k.inputs) {
            if (pread(in, buffers[i].data, k.bytes[i], in_at) != k.bytes[i])
                _exit(FAILED);
            in_at += k.bytes[i];
        }
        if (i < count)
            pointers[i] = buffers[i].data;
    }
    k.entry(pointers, 0, buffers[count].data);
    for (int i = 0; i <= count; i++)
        if (!slack_intact(buffers[i]))
            _exit(WROTE_OUTSIDE);
    for (int i = k.inputs; i < count; i++) {
        if (pwrite(out, buffers[i].data, k.bytes[i], out_at) != k.bytes[i])
            _exit(FAILED);
        out_at += k.bytes[i];
    }
    _exit(0);
}

int main(int argc, char **argv) {
    int64_t in_at = 0, out_at = 0;
    int in = argc == 3 ? open(argv[1], O_RDONLY) : -1;
    int out = argc == 3 ? open(argv[2], O_RDWR | O_CREAT, 0666) : -1;
    if (in < 0 || out < 0)
        return FAILED;
    for (int n = 0; n < KERNELS_COUNT; n++) {
        struct kernel k = KERNELS[n];
        int status;
        pid_t child = fork();
        if (child == 0)
            run(k, in, in_at, out, out_at);
        if (child < 0 || waitpid(child, &status, 0) < 0)
            return FAILED;
        printf("%d %d\n", n, WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
        for (int i = 0; i < k.inputs + k.outputs; i++)
            *(i < k.inputs ? &in_at : &out_at) += k.bytes[i];
    }
    return 0;
}
