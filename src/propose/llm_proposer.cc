// A language model as a proposer: every question is a conversation of its own, the history is in
// it.
//
// Rejected: one growing conversation. It costs the square of the attempts in tokens, the model
// repeats its own mistakes from it, and a resumed run would have to rebuild it word by word.
#include "propose/proposer.h"

namespace swizzleperf {
namespace {

class LanguageModel : public Proposer {
 public:
  LanguageModel(const llm::Endpoint& endpoint, const Purse& purse)
      : client_(endpoint, purse.limits, purse.spent) {
    client_.on_spent(purse.on_spent);
  }

  [[nodiscard]] std::string name() const override { return "llm"; }

  Answer ask(const Question& question) override {
    try {
      llm::Reply reply = client_.ask(
          {{llm::Role::kSystem, question.instructions}, {llm::Role::kUser, question.prompt}});
      const std::string problem = reply.text.empty() ? reply.note : "";
      return {std::move(reply.text), problem, reply.usage, std::move(reply.model)};
    } catch (const llm::BudgetSpent& spent) {
      throw ProposerEnds(ProposerEnds::Why::kBudget, spent.what());
    } catch (const Error& error) {
      throw ProposerEnds(ProposerEnds::Why::kFailed, error.what());
    }
  }

 private:
  llm::Client client_;
};

}  // namespace

std::unique_ptr<Proposer> llm_proposer(const llm::Endpoint& endpoint, const Purse& purse) {
  return std::make_unique<LanguageModel>(endpoint, purse);
}

}  // namespace swizzleperf
