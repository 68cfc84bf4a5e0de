// bundle.json: what is written is read again, and whatever is wrong with it is named.
#include "measure/bundle.h"

#include <gmock/gmock.h>

#include <functional>

#include "measure/bundle_support.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class BundleFile : public testing::Test {
 protected:
  BundleFile() : bundle_(sample_bundle(scratch_.path() / "b")) {
    write_bundle(bundle_);
    good_ = json::parse(read_file(file()));
  }

  [[nodiscard]] fs::path file() const { return bundle_.directory / "bundle.json"; }

  /// What read_bundle says of a document in place of the good one; "" if nothing.
  std::string complaint(const json& document) {
    write_file(file(), document.dump());
    try {
      (void)read_bundle(bundle_.directory);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kInput);
      return error.what();
    }
    return "";
  }

  ScratchDirectory scratch_;
  Bundle bundle_;
  json good_;
};

TEST_F(BundleFile, IsReadAsItWasWritten) {
  const Bundle read = read_bundle(bundle_.directory);
  write_bundle(read);
  EXPECT_EQ(json::parse(read_file(file())), good_);
  EXPECT_EQ(read.project.language, Language::kHip);
  EXPECT_EQ(read.project.build, bundle_.project.build);
  EXPECT_EQ(read.project.arguments, bundle_.project.arguments);
  EXPECT_EQ(read.target.grid, bundle_.target.grid);
  EXPECT_EQ(read.target.index, 2);
  ASSERT_EQ(read.candidates.size(), 1U);
  EXPECT_EQ(read.candidates[0].files, bundle_.candidates[0].files);
  EXPECT_EQ(read.candidates[0].predicted, bundle_.candidates[0].predicted);
}

/// Every place in a document, as a pointer to it.
std::vector<json::json_pointer> places(const json& document) {
  std::vector<json::json_pointer> result;
  const std::function<void(const json&, const json::json_pointer&)> visit =
      [&](const json& value, const json::json_pointer& at) {
        if (!at.empty() && at.back() == "predicted") return;
        for (const auto& [key, inner] : value.items()) {
          const json::json_pointer place = value.is_array() ? at / std::stoul(key) : at / key;
          if (!value.is_array()) result.push_back(place);
          if (inner.is_object() || (inner.is_array() && key == "candidates")) visit(inner, place);
          if (value.is_array()) visit(inner, place);
        }
      };
  visit(document, json::json_pointer());
  return result;
}

TEST_F(BundleFile, NamesEveryKeyThatIsMissing) {
  const auto all = places(good_);
  ASSERT_GT(all.size(), 20U);
  for (const json::json_pointer& place : all) {
    json document = good_;
    document.at(place.parent_pointer()).erase(place.back());
    EXPECT_THAT(complaint(document),
                AllOf(HasSubstr(place.back() + "' is missing"), HasSubstr(file().string())))
        << place.to_string();
  }
}

TEST_F(BundleFile, NamesEveryKeyOfTheWrongKind) {
  for (const json::json_pointer& place : places(good_)) {
    json document = good_;
    document.at(place) = 3.5;
    EXPECT_THAT(complaint(document), AllOf(HasSubstr(place.back() + "'"), HasSubstr(" must ")))
        << place.to_string();
  }
}

TEST_F(BundleFile, IgnoresKeysThatALaterVersionAdded) {
  good_["project"]["added"] = 1;
  EXPECT_EQ(complaint(good_), "");
}

TEST_F(BundleFile, RefusesValuesThatCannotBe) {
  const std::vector<std::pair<const char*, json>> wrong = {
      {"/schema_version", 2},
      {"/project/language", "sycl"},
      {"/project/source", "src/other.hip"},
      {"/project/arguments", json::array({std::string("a\0b", 3)})},
      {"/target/index", -1},
      {"/target/grid", {1, 2}},
      {"/target/grid", {1, 0, 1}},
      {"/target/block", {1, 1, 4294967296}},
      {"/target/block", {1, 1, 18446744073709551615U}},
      {"/candidates/0/number", 2},
      {"/candidates/0/permutation", "0123"},
      {"/candidates/0/permutation", "0123456789ABCDEF"},
      {"/candidates/0/files", json::array()},
      {"/candidates/0/files", {"src/other.hip"}},
      {"/candidates/0/files", {"src"}}};
  for (const auto& [place, value] : wrong) {
    json document = good_;
    const json::json_pointer at(place);
    document.at(at) = value;
    EXPECT_THAT(complaint(document), HasSubstr(at.back() + "'")) << place << " " << value.dump();
  }
  EXPECT_THAT(complaint(json::array()), HasSubstr("must be an object"));
}

TEST_F(BundleFile, SaysThatALaterVersionWroteIt) {
  good_["schema_version"] = 7;
  EXPECT_THAT(complaint(good_), AllOf(HasSubstr("is 7"), HasSubstr("or a later one")));
}

TEST_F(BundleFile, RefusesPathsThatLeaveTheFolder) {
  put(scratch_.path() / "outside", "x");
  for (const char* place : {"/project/source", "/project/program", "/candidates/0/files/0"}) {
    for (const char* path : {"../outside", "/etc/passwd", "src/../../outside", "..", ".", ""}) {
      json document = good_;
      document.at(json::json_pointer(place)) = path;
      EXPECT_THAT(complaint(document), HasSubstr("leaves the bundle's folder")) << place << path;
    }
  }
}

TEST_F(BundleFile, RefusesALinkThatLeavesTheFolder) {
  put(scratch_.path() / "outside", "x");
  fs::create_symlink("../../../outside", bundle_.directory / "candidates/1/link");
  good_["candidates"][0]["files"] = {"link"};
  EXPECT_THAT(complaint(good_), HasSubstr("a link that leaves"));
}

TEST_F(BundleFile, WithoutItAFolderIsNoBundle) {
  fs::remove(file());
  EXPECT_THAT([&] { (void)read_bundle(bundle_.directory); },
              testing::ThrowsMessage<Error>(HasSubstr("no bundle")));
  write_file(file(), "{\"schema_version\": 1, \"mach");
  EXPECT_THAT([&] { (void)read_bundle(bundle_.directory); },
              testing::ThrowsMessage<Error>(HasSubstr("not valid JSON")));
}

}  // namespace
}  // namespace swizzleperf::measure
