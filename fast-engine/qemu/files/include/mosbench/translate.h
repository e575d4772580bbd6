/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Front end of the code generator: the head of a block counts its cycles and checks the lines it is fetched from.
 * Included by accel/tcg/translator.c only.
 */
#ifndef MOSBENCH_TRANSLATE_H
#define MOSBENCH_TRANSLATE_H

#include "mosbench/hooks.h"
#include "exec/translator.h"
#include "exec/helper-gen.h"

/* This joins a file of QEMU's own, which is compiled with fewer warnings. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wall"
#pragma GCC diagnostic error "-Wextra"

#include "mosbench/issue.h"

#define NEG_OFFSET(field) (offsetof(ArchCPU, neg.field) - offsetof(ArchCPU, env))

static TCGOp *mosbench_budget_op;      /* the addition whose operand is known only when the block is complete */
static TCGLabel *mosbench_head;
static TCGOp *mosbench_head_end;       /* the last operation of the head */

/* One 64-bit word holds the instructions (low half, counting up) and QEMU's own 32-bit decrementer (high half, counting cycles down):
 * one load, one addition, one store, one sign test of what was there before. The exit takes the addition back, and the core stops
 * there; if nothing asks for more than that, it then begins the block after all. */
static inline void mosbench_gen_block_start(const TranslationBlock *tb)
{
    TCGv_i64 before = tcg_temp_new_i64();
    TCGv_i64 after = tcg_temp_new_i64();

    mosbench_block_cycles = 0;
    mosbench_insn_accesses = 0;
    mosbench_insn_atomic = mosbench_insn_stream = mosbench_block_loops = false;
    mosbench_head = gen_new_label();
    tcg_gen_discard_i64(before);    /* the optimiser looks at what is before a label, so something has to be */
    gen_set_label(mosbench_head);
    tcg_gen_ld_i64(before, cpu_env, NEG_OFFSET(mosbench_instructions));
    tcg_gen_add_i64(after, before, tcg_constant_i64(1));
    mosbench_budget_op = tcg_last_op();
    tcg_gen_st_i64(after, cpu_env, NEG_OFFSET(mosbench_instructions));
    tcg_ctx->exitreq_label = NULL;
    if (!(tb_cflags(tb) & CF_NOIRQ)) {
        tcg_ctx->exitreq_label = gen_new_label();
        tcg_gen_brcondi_i64(TCG_COND_LT, before, 0, tcg_ctx->exitreq_label);
    }
    mosbench_head_end = tcg_last_op();
    tcg_temp_free_i64(before);
    tcg_temp_free_i64(after);
}

/* An instruction costs one cycle, or an L1 hit for each of its accesses; a locked one what the machine says. */
static inline void mosbench_insn_done(void)
{
    uint32_t cycles = mosbench_hooks ? MAX(1, mosbench_insn_accesses * mosbench_access_cycles) : 1;

    mosbench_block_cycles += mosbench_hooks && mosbench_insn_atomic ? MAX(cycles, mosbench_atomic_cycles) : cycles;
    mosbench_insn_accesses = 0;
    mosbench_insn_atomic = mosbench_insn_stream = false;
}

/* Move the operations after `from` behind `to`. */
static inline TCGOp *mosbench_move_ops(TCGOp *from, TCGOp *to)
{
    TCGOp *op;

    while ((op = QTAILQ_NEXT(from, link))) {
        QTAILQ_REMOVE(&tcg_ctx->ops, op, link);
        QTAILQ_INSERT_AFTER(&tcg_ctx->ops, to, op, link);
        to = op;
    }
    return to;
}

/* Which lines the block covers is known at its end; the check belongs into its head. Code lies at a fixed place of physical memory,
 * so a line number is an immediate: load, compare, jump for each line. */
static inline void mosbench_gen_fetch_check(const DisasContextBase *db)
{
    uint64_t bytes = db->pc_next - db->pc_first;
    uint64_t first_part = MIN(bytes, -(db->pc_first | TARGET_PAGE_MASK));
    const struct { uintptr_t host; uint64_t pc, bytes; } parts[2] = {
        { (uintptr_t)db->host_addr[0], db->pc_first, first_part },
        { (uintptr_t)db->host_addr[1], db->pc_first + first_part, bytes - first_part },
    };
    TCGOp *end = tcg_last_op();
    TCGLabel *slow, *back;

    if (!mosbench_hooks || !parts[0].host || (parts[1].bytes && !parts[1].host)) {
        return;
    }
    slow = gen_new_label();
    back = gen_new_label();
    for (int i = 0; i < 2; i++) {
        for (uintptr_t host = parts[i].host; host < parts[i].host + parts[i].bytes; host = (host | 63) + 1) {
            uint32_t line = host >> 6;
            TCGv_i32 last = tcg_temp_new_i32();
            tcg_gen_ld_i32(last, cpu_env, NEG_OFFSET(mosbench_filter.fetch[line & mosbench_l1i_mask]));
            tcg_gen_brcondi_i32(TCG_COND_NE, last, (int32_t)line, slow);
            tcg_temp_free_i32(last);
        }
    }
    gen_set_label(back);
    mosbench_move_ops(end, mosbench_head_end);

    gen_set_label(slow);
    for (int i = 0; i < 2; i++) {
        if (parts[i].bytes) {
            gen_helper_mosbench_fetch(cpu_env, tcg_constant_i64(parts[i].pc), tcg_constant_i64(parts[i].host),
                                      tcg_constant_i32(parts[i].bytes));
        }
    }
    tcg_gen_br(back);
}

static inline void mosbench_gen_block_end(TranslationBlock *tb, int instructions)
{
    int64_t step;

    if (mosbench_hooks && mosbench_issue_width) {
        mosbench_block_cycles = mosbench_issue_block();
    }
    mosbench_block_instructions = instructions;
    step = instructions - ((int64_t)mosbench_block_cycles << 32);
    tb->mosbench_cycles = mosbench_block_cycles;
    tcg_set_insn_param(mosbench_budget_op, 2, tcgv_i64_arg(tcg_constant_i64(step)));
    if (tcg_ctx->exitreq_label) {
        TCGv_i64 count = tcg_temp_new_i64();
        TCGv_i32 leave = tcg_temp_new_i32();
        gen_set_label(tcg_ctx->exitreq_label);
        tcg_gen_ld_i64(count, cpu_env, NEG_OFFSET(mosbench_instructions));
        tcg_gen_subi_i64(count, count, step);
        tcg_gen_st_i64(count, cpu_env, NEG_OFFSET(mosbench_instructions));
        gen_helper_mosbench_slice_over(leave, cpu_env, tcg_constant_ptr(tb));
        tcg_gen_brcondi_i32(TCG_COND_EQ, leave, 0, mosbench_head);
        tcg_gen_exit_tb(tb, TB_EXIT_REQUESTED);
        tcg_temp_free_i64(count);
        tcg_temp_free_i32(leave);
    }
}

#pragma GCC diagnostic pop

#endif
