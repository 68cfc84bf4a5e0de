// Blocks and edges: how lanes go on, and how phis get their values.
#include <fmt/format.h>

#include <algorithm>

#include "vgpu/exec/cost.h"
#include "vgpu/exec/translate/translator.h"
#include "vgpu/exec/waiting.h"

namespace swizzleperf::vgpu {

void Translator::end_block(BlockEnd exit, std::uint32_t condition) {
  Block& block = program_->blocks.back();
  block.op_end = static_cast<std::uint32_t>(program_->ops.size());
  block.exit = exit;
  block.condition = condition & ~kUniformBit;
  block.location = location_;
}

std::vector<Translator::Move> Translator::moves_of(const llvm::BasicBlock* from,
                                                   const llvm::BasicBlock* to) {
  std::vector<Move> moves;
  for (const llvm::PHINode& phi : to->phis()) {
    if (!slice_.needs(&phi)) continue;
    const llvm::Value* value = phi.getIncomingValueForBlock(from);
    // An undefined value moves nothing: the phi may be uniform with the value of another edge,
    // which must stay.
    if (llvm::isa<llvm::UndefValue>(value)) continue;
    const Operands a = operands(value);
    const Operands d = operands(&phi);
    const auto scalars = scalars_of(phi.getType());
    for (std::size_t k = 0; k < d.size(); ++k)
      if (a[k] != d[k]) moves.push_back({d[k], a[k], raw(scalars[k].type)});
  }
  return moves;
}

std::uint32_t Translator::copied(std::uint32_t a, Type type) {
  Op op;
  op.run = table_.find(Code::kMove, type, is_uniform(a));
  op.a = a;
  op.d = new_register(type, is_uniform(a));
  return append(op).d;
}

/// Both edges of a divergent branch move before either target runs, for disjoint lanes. But lanes
/// share uniform registers: a uniform phi that one edge sets (a loop counter, say) is saved if the
/// other edge still reads it.
void Translator::separate(std::vector<Move>& one, std::vector<Move>& other) {
  const auto save = [&](std::vector<Move>& readers, const std::vector<Move>& writers) {
    for (Move& m : readers)
      if (std::any_of(writers.begin(), writers.end(),
                      [&](const Move& w) { return is_uniform(w.d) && w.d == m.a; }))
        m.a = copied(m.a, m.type);
  };
  save(one, other);
  save(other, one);
}

/// Moves into the target's phis, all at once: a move waits until nobody reads its destination; in a
/// circle one value is saved first.
Edge Translator::edge(std::vector<Move> moves) {
  Edge edge;
  edge.move_begin = static_cast<std::uint32_t>(program_->ops.size());
  const auto emit_move = [&](const Move& m) {
    Op op;
    op.d = m.d;
    op.a = m.a;
    if (!is_uniform(m.d)) {
      op.run = table_.find(Code::kMoveMasked, m.type, false);
    } else {
      op.a = to_uniform(m.type, m.a);
      op.run = table_.find(Code::kMove, m.type, true);
    }
    append(op);
  };
  while (!moves.empty()) {
    const auto free = std::find_if(moves.begin(), moves.end(), [&](const Move& m) {
      return std::none_of(moves.begin(), moves.end(),
                          [&](const Move& other) { return &other != &m && other.a == m.d; });
    });
    if (free != moves.end()) {
      emit_move(*free);
      moves.erase(free);
      continue;
    }
    Move& first = moves.front();
    first.a = copied(first.a, first.type);
  }
  edge.move_end = static_cast<std::uint32_t>(program_->ops.size());
  return edge;
}

void Translator::terminator(const llvm::Instruction& i) {
  if (llvm::isa<llvm::ReturnInst>(i) || llvm::isa<llvm::UnreachableInst>(i))
    return end_block(BlockEnd::kReturn);
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&i);
  if (branch == nullptr) refuse(i, fmt::format("the instruction '{}'", i.getOpcodeName()));
  const llvm::BasicBlock* from = i.getParent();
  const auto index = static_cast<std::uint32_t>(program_->blocks.size() - 1);
  const auto go = [&](unsigned which, std::vector<Move> moves) {
    program_->blocks[index].edge[which] = edge(std::move(moves));
    edge_fixes_.push_back({index, which, branch->getSuccessor(which)});
  };
  std::vector<Move> taken = moves_of(from, branch->getSuccessor(0));
  if (branch->isUnconditional()) {
    end_block(BlockEnd::kJump);
    return go(0, std::move(taken));
  }
  std::vector<Move> other = moves_of(from, branch->getSuccessor(1));
  const std::uint32_t condition = operand(branch->getCondition());
  if (!is_uniform(condition)) separate(taken, other);
  end_block(is_uniform(condition) ? BlockEnd::kUniformBranch : BlockEnd::kBranch, condition);
  go(0, std::move(taken));
  go(1, std::move(other));
}

void Translator::block(const llvm::BasicBlock& bb) {
  first_block_[&bb] = static_cast<std::uint32_t>(program_->blocks.size());
  const auto begin = [&] {
    Block block;
    block.op_begin = static_cast<std::uint32_t>(program_->ops.size());
    program_->blocks.push_back(block);
  };
  begin();
  const llvm::Loop* loop = kernel_.facts->loops().getLoopFor(&bb);
  program_->blocks.back().waits = loop != nullptr && loop->getHeader() == &bb && waits(*loop);
  if (&bb == &function_.getEntryBlock()) load_arguments();
  for (const llvm::Instruction& i : bb) {
    const auto* called = llvm::dyn_cast<llvm::CallInst>(&i);
    const llvm::Function* callee = called == nullptr ? nullptr : called->getCalledFunction();
    const llvm::StringRef name = callee == nullptr ? "" : callee->getName();
    const bool of_block = name == "llvm.amdgcn.s.barrier" || name == "llvm.amdgcn.s.barrier.wait";
    const bool of_grid = name == "__ockl_grid_sync";
    if (of_block || of_grid) {
      add_cost(program_->blocks.back(), i, true);
      end_block(of_block ? BlockEnd::kBarrier : BlockEnd::kGridBarrier);
      program_->blocks.back().edge[0].block = static_cast<std::uint32_t>(program_->blocks.size());
      begin();
      continue;
    }
    instruction(i);
  }
}

}  // namespace swizzleperf::vgpu
