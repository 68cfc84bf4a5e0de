// What goes wrong below HTTP: no server, no name, no certificate, silence, broken connections; and
// the ways around (proxies).
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/interrupt.h"
#include "base/subprocess.h"
#include "llm/client_test.h"

namespace swizzleperf::llm {
namespace {

using nlohmann::json;

class NetworkTest : public ClientTest {};

/// A port on which nobody listens while the object lives: it is bound, and does not listen.
struct ClosedPort {
  Fd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::string base;
  ClosedPort() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    base = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
};

TEST_F(NetworkTest, NobodyListens) {
  const ClosedPort port;
  endpoint_options.base = port.base;
  connect();
  EXPECT_THAT(fault(), HasSubstr(port.base + "/v1/chat/completions cannot be reached: "));
  EXPECT_TRUE(waits.empty());  // it was never there
  expect_spent(1, 0, 0);
}

TEST_F(NetworkTest, AServerThatWentAwayIsWaitedFor) {
  patience.retries = 2;
  begin(json::array({openai_answer("x")}));
  ask();
  server.reset();
  EXPECT_THAT(fault(), HasSubstr("cannot be reached"));
  EXPECT_EQ(waits.size(), 2U);
}

TEST_F(NetworkTest, NoSuchHost) {
  endpoint_options.base = "http://" + std::string(70, 'a') + ".invalid";  // no label is that long
  connect();
  EXPECT_THAT(fault(), HasSubstr("cannot be reached: "));
  expect_spent(1, 0, 0);
}

TEST_F(NetworkTest, ACutConnectionIsAskedAgainAndItsTokensAreUnknown) {
  json cut = openai_answer("lost");
  cut["cut"] = 20;
  begin(json::array({cut, {{"drop", true}}, openai_answer("x")}));
  const Reply reply = ask();
  EXPECT_EQ(reply.text, "x");
  EXPECT_EQ(reply.calls, 3U);
  EXPECT_FALSE(reply.usage.completion_tokens);
  EXPECT_EQ(waits.size(), 2U);
  expect_spent(3, 100, 10, true);
}

TEST_F(NetworkTest, AHangIsAskedOnceMore) {
  endpoint_options.timeout_s = 0.5;
  begin(json::array({{{"hang", true}}, {{"hang", true}}, openai_answer("x")}));
  EXPECT_THAT(fault(), HasSubstr("did not answer in time"));
  EXPECT_EQ(waits.size(), 1U);
  expect_spent(2, 0, 0, true);
  EXPECT_GE(client->spent().seconds, 0.9);
}

TEST_F(NetworkTest, TheBudgetOfSecondsEndsAHang) {
  limits.seconds = 0.5;
  begin(json::array({{{"hang", true}}}));
  EXPECT_THAT(fault(), HasSubstr("budget: "));
  expect_spent(1, 0, 0, true);
}

TEST_F(NetworkTest, AHugeBodyIsNotTaken) {
  begin(json::array({{{"body_bytes", 20 << 20}}}));
  EXPECT_THAT(fault(), HasSubstr("answers with more than 16 MiB"));
  expect_spent(1, 0, 0, true);
}

// --- TLS ----------------------------------------------------------------------------------------

TEST_F(NetworkTest, AServerWithoutTls) {
  begin(json::array({openai_answer("x")}));
  endpoint_options.base = "https" + server->base().substr(4);
  connect();
  EXPECT_THAT(fault(), HasSubstr("cannot be reached: "));
}

TEST_F(NetworkTest, ACertificateThatNobodySignedIsRefusedUnlessItIsTrusted) {
  if (!find_program("openssl")) GTEST_SKIP() << "no openssl to make a certificate with";
  const ScratchDirectory scratch;
  const Certificate made{scratch.path() / "cert.pem", scratch.path() / "key.pem"};
  ChildSpec spec;
  spec.argv = {"openssl",
               "req",
               "-x509",
               "-newkey",
               "ec",
               "-pkeyopt",
               "ec_paramgen_curve:P-256",
               "-nodes",
               "-days",
               "2",
               "-subj",
               "/CN=localhost",
               "-addext",
               "subjectAltName=DNS:localhost",
               "-out",
               made.certificate,
               "-keyout",
               made.key};
  ASSERT_TRUE(run_child(spec).ok());
  const ScriptedServer secure(json::array({openai_answer("x")}), &made);
  set("SWIZZLEPERF_LLM_API_KEY", "sk-test-key");
  endpoint_options.base = secure.base();
  connect();
  EXPECT_THAT(fault(), HasSubstr("certificate"));
  EXPECT_TRUE(secure.requests().empty());
  set("SSL_CERT_FILE", made.certificate);
  connect();
  EXPECT_EQ(ask().text, "x");
}

// --- Proxies ------------------------------------------------------------------------------------

TEST_F(NetworkTest, TheProxyOfTheEnvironmentIsUsed) {
  server = std::make_unique<ScriptedServer>(json::array({openai_answer("x")}));
  set("http_proxy", server->base());
  endpoint_options.base = "http://model.invalid:81";
  connect();
  EXPECT_EQ(ask().text, "x");
  EXPECT_EQ(server->requests().at(0).at("path"), "http://model.invalid:81/v1/chat/completions");
  EXPECT_EQ(server->requests().at(0).at("headers").at("host"), "model.invalid:81");
}

// --- Ctrl-C -------------------------------------------------------------------------------------

/// In a process of its own, which handles signals as the command line does.
TEST_F(NetworkTest, CtrlCEndsAWaitingCall) {
  server = std::make_unique<ScriptedServer>(json::array({{{"hang", true}}}));
  endpoint_options.base = server->base();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGINT, SIG_DFL);
    clean_up_on_signals();
    Client(endpoint_from(endpoint_options)).ask({{Role::kUser, "x"}});
    ::_exit(0);
  }
  while (server->requests().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ::kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);  // the call itself would take ten minutes
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

}  // namespace
}  // namespace swizzleperf::llm
