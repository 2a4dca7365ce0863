/* SPDX-License-Identifier: GPL-2.0-only */
/* What a fuzzer calls of a target, and what it has for it. */
#ifndef LIFEZONE_FUZZ_TARGET_H
#define LIFEZONE_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

#endif /* LIFEZONE_FUZZ_TARGET_H */
