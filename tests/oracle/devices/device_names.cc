// Asks TensorFlow's own library what it makes of names of devices and of rendezvous keys. One line of JSON an
// answer; device_names.py compiles and runs it.
#include <cstdio>
#include <string>
#include <vector>

#include "tensorflow/core/framework/rendezvous.h"
#include "tensorflow/core/util/device_name_utils.h"

using Names = tensorflow::DeviceNameUtils;
using Parsed = Names::ParsedName;

static std::string Quoted(absl::string_view text) {
  std::string out = "\"";
  for (unsigned char c : text) {
    char buffer[8];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 32) {
      snprintf(buffer, sizeof buffer, "\\u%04x", c);
      out += buffer;
    } else {
      out += static_cast<char>(c);
    }
  }
  return out + "\"";
}

// [job, replica, task, type, id], null for what is not said.
static std::string Fields(const Parsed& p) {
  auto number = [](bool has, int value) { return has ? std::to_string(value) : std::string("null"); };
  return "[" + (p.has_job ? Quoted(p.job) : "null") + ", " + number(p.has_replica, p.replica) + ", " +
         number(p.has_task, p.task) + ", " + (p.has_type ? Quoted(p.type) : "null") + ", " +
         number(p.has_id, p.id) + "]";
}

static std::string Outcome(const absl::Status& status, const std::string& value) {
  if (status.ok()) return value;
  return "{\"code\": " + std::to_string(static_cast<int>(status.code())) +
         ", \"error\": " + Quoted(status.message()) + "}";
}

static const char* Bool(bool b) { return b ? "true" : "false"; }

static void PrintParse(const std::string& name) {
  Parsed full, local, either;
  bool is_full = Names::ParseFullName(name, &full), is_local = Names::ParseLocalName(name, &local);
  bool ok = Names::ParseFullOrLocalName(name, &either);
  std::string mappings;
  if (ok) {
    for (const std::string& text : Names::GetNamesForDeviceMappings(either))
      mappings += (mappings.empty() ? "" : ", ") + Quoted(text);
  }
  std::string canonical;
  absl::Status status =
      Names::CanonicalizeDeviceName(name, "/job:foo/replica:10/task:0/device:CPU:0", &canonical);
  printf("{\"kind\": \"parse\", \"name\": %s, \"full\": %s, \"local\": %s, \"text\": %s, \"mappings\": [%s], "
         "\"canonical\": %s}\n",
         Quoted(name).c_str(), is_full ? Fields(full).c_str() : "null",
         is_local ? Fields(local).c_str() : "null",
         ok ? Quoted(Names::ParsedNameToString(either)).c_str() : "null", mappings.c_str(),
         Outcome(status, Quoted(canonical)).c_str());
}

static void PrintPair(const std::string& left, const std::string& right) {
  Parsed a, b;
  if (!Names::ParseFullName(left, &a) || !Names::ParseFullName(right, &b)) abort();
  Parsed strict = a, soft = a, override = a, unset = a, ensured = a;
  absl::Status strict_status = Names::MergeDevNames(&strict, b, false);
  absl::Status soft_status = Names::MergeDevNames(&soft, b, true);
  absl::Status override_status = Names::MergeOverrideDevNames(&override, b);
  Names::MergeUnsetDevNames(&unset, b);
  Names::EnsureSpecification(&ensured, b);
  bool is_whole = b.has_job && b.has_replica && b.has_task && b.has_type && b.has_id;  // what TensorFlow requires
  printf("{\"kind\": \"pair\", \"a\": %s, \"b\": %s, \"is_specification\": %s, \"is_complete\": %s, "
         "\"compatible\": %s, \"merge\": %s, \"soft\": %s, \"override\": %s, \"unset\": %s, \"ensured\": %s}\n",
         Quoted(left).c_str(), Quoted(right).c_str(), Bool(Names::IsSpecification(a, b)),
         is_whole ? Bool(Names::IsCompleteSpecification(a, b)) : "null", Bool(Names::AreCompatibleDevNames(a, b)),
         Outcome(strict_status, Fields(strict)).c_str(), Outcome(soft_status, Fields(soft)).c_str(),
         Outcome(override_status, Fields(override)).c_str(), Fields(unset).c_str(), Fields(ensured).c_str());
}

static void PrintCanonical(const std::string& name, const std::string& base) {
  std::string canonical;
  absl::Status status = Names::CanonicalizeDeviceName(name, base, &canonical);
  printf("{\"kind\": \"canonical\", \"name\": %s, \"base\": %s, \"canonical\": %s}\n", Quoted(name).c_str(),
         Quoted(base).c_str(), Outcome(status, Quoted(canonical)).c_str());
}

static void PrintKey(const std::string& key) {
  tensorflow::Rendezvous::ParsedKey parsed;
  absl::Status status = tensorflow::Rendezvous::ParseKey(key, &parsed);
  std::string value = status.ok() ? "{\"src\": " + Fields(parsed.src) + ", \"incarnation\": \"" +
                                        std::to_string(parsed.src_incarnation) +
                                        "\", \"dst\": " + Fields(parsed.dst) +
                                        ", \"edge\": " + Quoted(parsed.edge_name) + "}"
                                  : "";
  printf("{\"kind\": \"key\", \"key\": %s, \"parsed\": %s}\n", Quoted(key).c_str(),
         Outcome(status, value).c_str());
}

static void PrintCreateKey(const std::string& src, uint64_t incarnation, const std::string& dst,
                           const std::string& name, uint64_t frame, int64_t iter) {
  printf("{\"kind\": \"create_key\", \"src\": %s, \"incarnation\": \"%llu\", \"dst\": %s, \"name\": %s, "
         "\"frame\": \"%llu\", \"iter\": \"%lld\", \"key\": %s}\n",
         Quoted(src).c_str(), static_cast<unsigned long long>(incarnation), Quoted(dst).c_str(),
         Quoted(name).c_str(), static_cast<unsigned long long>(frame), static_cast<long long>(iter),
         Quoted(tensorflow::Rendezvous::CreateKey(src, incarnation, dst, name,
                                                  tensorflow::FrameAndIter(frame, iter)))
             .c_str());
}

int main() {
  const std::vector<std::string> names = {
      "", "/", "//", "/cpu:0", "/CPU:0", "/gpu:0", "/GPU:1", "/cpu", "/gpu:*", "/cpu:*", "/CPU:*", "/GPU",
      "cpu:0", "CPU:0", "gpu:3", "GPU:*", "cpu:*", "cpu", "CPU", "TPU:0", "tpu:1", "/tpu:0", "/TPU:0",
      "device:CPU:0", "device:CPU:*", "device:CPU", "device:cpu:0", "device:GPU:12", "device:Foo:1", "device:*:1",
      "device:*", "device:", "device", "/device:CPU:0", "/device:cpu:0", "/device:gpu:0", "/device:GPU:*", "/device:*", "/device:CPU:", "/device:CPU", "/device:CPU:0x", "/device:CPU:-1", "/device::0",
      "/device:Some_Type2:3", "/device:2Type:3", "/device:_T:0", "/device:T-x:0", "/device:XLA_CPU:0",
      "/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:0/cpu:0",
      "/job:localhost/replica:0/task:0/CPU:0", "/job:x/replica:0/task:1/device:CPU:0", "/job:x/replica:0/task:1",
      "/job:x", "/job:*", "/job:", "/job", "job:x", "/job:X_y2", "/job:2x", "/job:_x", "/job:x-y", "/job:x y",
      "/job:*/replica:*/task:*/device:CPU:*", "/replica:*", "/replica:7", "/replica:007", "/replica:", "/replica:x",
      "/replica:-1", "/task:*", "/task:3", "/task:00", "/task:", 
      "/task:2147483647", "/task:1/job:x",
      "/device:CPU:0/job:x/task:1/replica:2", "/cpu:0/job:x", "/job:x/job:y", "/task:1/task:2", "/cpu:0/gpu:1",
      "/gpu:1/cpu:0", "/device:CPU:0/device:GPU:1", "/job:x/", "/job:x/replica:0/task:1/", "/cpu:0/", "/job:x//task:1",
      "/job:x/replica:0/task:1/device:CPU:00", "/cpu:01", "/cpu:0:1", "/device:CPU:0:1", "/Job:x", "/JOB:x",
      "/Device:CPU:0", "/Cpu:0", "/cPU:0", "/gPu:1", "/foo:1", "/xpu:0", " /cpu:0", "/cpu:0 ", "/ cpu:0", "some dev",
      "ADevice", "ddd", "/gpu:13", "/cpu:17", "/job:worker/replica:1/task:2/device:GPU:3",
      "/job:worker/replica:1/task:2/gpu:3", "/job:a.b", "/job:w1/task:1/CPU:0", "/device:tpu:0", "/device:TPU:*",
      "/task:1/device:CPU:*", "/job:body/replica:0/task:1/device:CPU", "/job:call/replica:0/task:1/device:GPU",
      "/device:CPU:*x", "/cpu:*x", "/job:*x", "/replica:*x", "/job:*/task:*x", "/cpu:", "/gpu:x", "cpu:", "gpu:x",
      "GPU:", "CPU:0 ", "CPU:00", "Some_Type:1", "_x:1", "2x:1", "CPU:0:0", "CPU:-1", "CPU:x",
      "/device:COMPOSITE:0", "/job:localhost/replica:0/task:0/device:XLA_GPU:1", "/device:CPU_X", "cpu2:0", "/cpu2:0"};
  for (const std::string& name : names) PrintParse(name);
  const std::vector<std::string> sides = {"",
                                          "/job:a",
                                          "/job:*",
                                          "/replica:1",
                                          "/task:0",
                                          "/task:1",
                                          "/cpu:0",
                                          "/gpu:0",
                                          "/gpu:1",
                                          "/cpu:*",
                                          "/gpu:*",
                                          "/device:*:0",
                                          "/device:*:1",
                                          "/job:a/replica:0/task:0/cpu:0",
                                          "/job:a/replica:0/task:0/cpu:1",
                                          "/job:a/replica:0/task:1/cpu:0",
                                          "/job:b/replica:0/task:0/gpu:1",
                                          "/job:a/task:1/gpu:*",
                                          "/job:a/replica:0/task:0/gpu:0"};
  for (const std::string& a : sides)
    for (const std::string& b : sides) PrintPair(a, b);
  const std::vector<std::string> bases = {"/job:foo/replica:10/task:0/device:CPU:1", "/job:foo/replica:10/task:0/cpu:1",
                                          "/job:foo/task:0/replica:10/gpu:1", "/job:foo/replica:10/task:0/device:GPU:1",
                                          "/device:CPU:0", "/job:foo", "nonsense", ""};
  for (const std::string& base : bases)
    for (const char* name : {"/job:foo/replica:10/task:0/device:CPU:1", "/job:foo/task:0/replica:10/cpu:1",
                             "/job:foo/task:0/replica:10/gpu:1", "/device:CPU:0", "/cpu:1", "gpu:1", "/task:3", "/job:*",
                             "/device:GPU:*", "/device:CPU", "foo", "", "/job:foo/task:0/replica/cpu:1"})
      PrintCanonical(name, base);
  const std::string cpu = "/job:mnist/replica:1/task:2/CPU:0", gpu = "/job:mnist/replica:1/task:2/device:GPU:0";
  for (const std::string& key :
       {cpu + ";1;" + gpu + ";var0;0:0", cpu + ";0000000000001ed2;" + gpu + ";var0;0:0",
        cpu + ";ffffffffffffffff;" + gpu + ";var0;0:0", cpu + ";FFFFFFFFFFFFFFFF;" + gpu + ";var0;0:0",
        cpu + ";10000000000000000;" + gpu + ";var0;0:0", cpu + ";;" + gpu + ";var0;0:0", cpu + ";0x1;" + gpu + ";var0;0:0",
        cpu + ";xyz;" + gpu + ";var0;0:0", cpu + ";1;" + gpu + ";var0", cpu + ";1;" + gpu + ";var0;0:0;more",
        cpu + ";1;" + gpu + ";;0:0", cpu + ";1;" + gpu + ";var0;", cpu + ";1;" + gpu + ";var0;nonsense",
        std::string("foo;bar;baz"), std::string(""), std::string(";;;;"), std::string("foo;1;") + gpu + ";var0;0:0",
        cpu + ";1;bar;var0;0:0", std::string("CPU:0;1;CPU:0;var0;0:0"), std::string("/cpu:0;1;/cpu:1;edge_3_a;0:0"),
        std::string(";1;;v;0:0"), cpu + ";1;" + gpu + ";a b;12:34"})
    PrintKey(key);
  PrintCreateKey(cpu, 7890, gpu, "var0", 0, 0);
  PrintCreateKey(cpu, 0xffffffffffffffffu, gpu, "edge_5_x/y", 1, 2);
  PrintCreateKey("", 0, "", "", 0, 0);
  PrintCreateKey("/cpu:0", 1, "/cpu:1", "edge_12_while/x", 0x8000000000000001u, 1000000000000);
}
