/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a block costs a core that works ahead, and where the addresses of its accesses come from: both follow from its operations.
 * Included by translate.h only.
 */
#ifndef MOSBENCH_ISSUE_H
#define MOSBENCH_ISSUE_H

#define MOSBENCH_REGISTERS 16
/* Macro-operations' worth of a jump, beyond its own. */
#define MOSBENCH_JUMP_OPERATIONS 2
/* Of one that is foreseen and taken: the fetch begins anew. */
#define MOSBENCH_TAKEN_JUMP_CYCLES 1

/* Where a value comes from, and how many cycles after the block began loads that wait for loads have it ready. */
typedef struct MosbenchValue {
    uint32_t block;    /* that it belongs to; of another one: as the block found it */
    uint32_t loads;
    uint16_t registers;
    uint16_t ready;
} MosbenchValue;

static MosbenchValue mosbench_values[TCG_MAX_TEMPS];
static uint32_t mosbench_block_number;

typedef struct MosbenchIssue {
    TCGOp *start;       /* of the instruction under way; NULL: none yet */
    uint32_t operations, chain, extra;
    uint32_t accesses;  /* of the instruction */
    bool computes;      /* it does more than to move */
    uint32_t facts, loads;
    uint32_t exits;
} MosbenchIssue;

/* The guest's register that a temporary stands for, or -1. The stack pointer is not looked at: nobody loads it. */
static inline int mosbench_register_of(const TCGTemp *temp)
{
    intptr_t place = temp->mem_offset - (intptr_t)offsetof(CPUX86State, regs[0]);
    int found = place / (int)sizeof(target_ulong);

    return temp->kind == TEMP_GLOBAL && place >= 0 && found < MOSBENCH_REGISTERS && found != R_ESP ? found : -1;
}

static inline MosbenchValue *mosbench_value_of(TCGArg argument)
{
    TCGTemp *temp = arg_temp(argument);
    MosbenchValue *value = &mosbench_values[temp_idx(temp)];

    if (value->block != mosbench_block_number) {
        int number = mosbench_register_of(temp);
        *value = (MosbenchValue) { mosbench_block_number, 0, number < 0 ? 0 : 1u << number, 0 };
    }
    return value;
}

/* The instruction under way is complete; its first cycle is known to what unwinds, and to its accesses. Where it waits for loads, the
 * cycles of their hits are before it: the model adds what a miss takes beyond one. */
static inline void mosbench_issue_instruction(MosbenchIssue *issue)
{
    uint32_t before = MAX(issue->operations / mosbench_issue_width, issue->chain) + issue->extra;

    if (issue->start) {
        TCGArg word = issue->start->args[1];
        issue->start->args[1] = (word & ((1 << MOSBENCH_DATA_SHIFT) - 1)) | (TCGArg)before << MOSBENCH_DATA_SHIFT;
        issue->operations += MAX(1, issue->accesses + issue->computes);
    }
    issue->accesses = 0;
    issue->computes = false;
}

static inline void mosbench_issue_access(MosbenchIssue *issue, const TCGOp *op, bool load)
{
    bool atomic = get_memop(op->args[2]) & MOSBENCH_MO_ATOMIC;
    MosbenchValue address = *mosbench_value_of(op->args[1]);

    issue->accesses++;
    if (!load && atomic) {
        return;    /* the second half of one that was looked at */
    }
    if (atomic) {
        issue->extra += mosbench_atomic_cycles;
    }
    if (issue->facts < MOSBENCH_MAX_FACTS) {
        mosbench_facts[issue->facts++] = (struct mosbench_access_facts) {
            .origin = { .from_registers = address.registers, .from_loads = address.loads },
            .load = issue->loads % MODEL_NUMBERED_LOADS,
        };
    }
    if (load) {
        MosbenchValue *value = mosbench_value_of(op->args[0]);
        value->loads = address.loads | 1u << issue->loads % MODEL_NUMBERED_LOADS;
        value->registers = address.registers;
        value->ready = address.ready + mosbench_access_cycles;
        if (address.loads) {
            issue->chain = MAX(issue->chain, address.ready);
        }
        issue->loads++;
    }
}

static inline bool mosbench_moves(TCGOpcode opcode)
{
    switch (opcode) {
    case INDEX_op_mov_i32:
    case INDEX_op_mov_i64:
    case INDEX_op_ext8s_i32:
    case INDEX_op_ext8u_i32:
    case INDEX_op_ext16s_i32:
    case INDEX_op_ext16u_i32:
    case INDEX_op_ext8s_i64:
    case INDEX_op_ext8u_i64:
    case INDEX_op_ext16s_i64:
    case INDEX_op_ext16u_i64:
    case INDEX_op_ext32s_i64:
    case INDEX_op_ext32u_i64:
    case INDEX_op_extu_i32_i64:
    case INDEX_op_ext_i32_i64:
    case INDEX_op_extrl_i64_i32:
    case INDEX_op_deposit_i32:
    case INDEX_op_deposit_i64:
    case INDEX_op_discard:
        return true;
    default:
        return false;
    }
}

static inline void mosbench_issue_operation(MosbenchIssue *issue, const TCGOp *op)
{
    const TCGOpDef *def = &tcg_op_defs[op->opc];
    bool call = op->opc == INDEX_op_call;
    unsigned outs = call ? TCGOP_CALLO(op) : def->nb_oargs;
    unsigned ins = call ? TCGOP_CALLI(op) : def->nb_iargs;
    MosbenchValue made = { .block = mosbench_block_number };

    for (unsigned i = outs; i < outs + ins; i++) {
        if (op->args[i] != TCG_CALL_DUMMY_ARG) {
            const MosbenchValue *value = mosbench_value_of(op->args[i]);
            made.loads |= value->loads;
            made.registers |= value->registers;
            made.ready = MAX(made.ready, value->ready);
        }
    }
    for (unsigned i = 0; i < outs; i++) {
        *mosbench_value_of(op->args[i]) = made;
    }
    issue->computes |= outs && !mosbench_moves(op->opc) && !arg_temp(op->args[0])->mosbench_address;
}

/* Which registers have what a load brought when the block ends; and of a block that begins with what it ends with, such as a
 * step along a list, how long that takes. */
static inline void mosbench_issue_ends(MosbenchIssue *issue)
{
    for (int i = 0; i < tcg_ctx->nb_globals; i++) {
        int number = mosbench_register_of(&tcg_ctx->temps[i]);
        const MosbenchValue *value = &mosbench_values[i];

        if (number < 0 || value->block != mosbench_block_number || !value->loads) {
            continue;
        }
        if (value->registers & 1u << number) {
            issue->chain = MAX(issue->chain, value->ready);
        }
        for (uint32_t fact = 0; fact < issue->facts; fact++) {
            if (value->loads & 1u << mosbench_facts[fact].load) {
                mosbench_facts[fact].origin.into_registers |= 1u << number;
            }
        }
    }
}

static inline void mosbench_mark_addresses(void)
{
    TCGOp *op;

    QTAILQ_FOREACH(op, &tcg_ctx->ops, link) {
        if (op->opc == INDEX_op_qemu_ld_i32 || op->opc == INDEX_op_qemu_ld_i64 || op->opc == INDEX_op_qemu_st_i32 ||
            op->opc == INDEX_op_qemu_st_i64) {
            TCGTemp *address = arg_temp(op->args[1]);
            address->mosbench_address = address->kind != TEMP_GLOBAL;
        }
    }
}

/* The cycles of the block. An operation takes its share of a cycle, a load whose address is from a load waits for that, a locked
 * instruction for itself; a jump for what jumps cost in the mean, but one back to where the block begins is foreseen. */
static inline uint32_t mosbench_issue_block(void)
{
    MosbenchIssue issue = { 0 };
    double jump;
    TCGOp *op;

    mosbench_block_number++;
    mosbench_mark_addresses();
    QTAILQ_FOREACH(op, &tcg_ctx->ops, link) {
        switch (op->opc) {
        case INDEX_op_insn_start:
            mosbench_issue_instruction(&issue);
            issue.start = op;
            break;
        case INDEX_op_qemu_ld_i32:
        case INDEX_op_qemu_ld_i64:
            mosbench_issue_access(&issue, op, true);
            break;
        case INDEX_op_qemu_st_i32:
        case INDEX_op_qemu_st_i64:
            mosbench_issue_access(&issue, op, false);
            break;
        case INDEX_op_goto_tb:
        case INDEX_op_goto_ptr:
            issue.exits++;
            break;
        default:
            if (issue.start) {
                mosbench_issue_operation(&issue, op);
            }
        }
    }
    mosbench_issue_instruction(&issue);
    mosbench_issue_ends(&issue);
    issue.operations += MOSBENCH_JUMP_OPERATIONS;
    jump = mosbench_block_loops ? MOSBENCH_TAKEN_JUMP_CYCLES : issue.exits ? mosbench_jump_cycles : 0;
    return MAX(1, (uint32_t)(MAX((double)issue.operations / mosbench_issue_width, issue.chain) + issue.extra + jump + 0.5));
}

#endif
