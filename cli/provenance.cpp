// SPDX-License-Identifier: Apache-2.0
#include "provenance.hpp"

#include <elf.h>
#include <link.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <arcalloc/version.hpp>
#include <cstring>
#include <ctime>
#include <fstream>

#include "memory_probe.hpp"
#include "number_text.hpp"

namespace arcalloc::cli {

namespace {

std::string hex_of(const unsigned char* bytes, std::size_t count) {
  constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  for (std::size_t i = 0; i < count; ++i) {
    hex += digits[bytes[i] >> 4];
    hex += digits[bytes[i] & 15];
  }
  return hex;
}

constexpr std::size_t rounded_to_4(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

/// Looks for the build id among the notes in [at, end).
std::string build_id_in(const unsigned char* at, const unsigned char* end) {
  while (static_cast<std::size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const unsigned char* name = at + sizeof note;
    const unsigned char* content = name + rounded_to_4(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      return hex_of(content, note.n_descsz);
    }
    at = content + rounded_to_4(note.n_descsz);
  }
  return {};
}

/// dl_iterate_phdr reports the program itself first; the nonzero return ends the walk there.
int find_build_id(dl_phdr_info* object, std::size_t /*size*/, void* found) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    // The notes are mapped where the program header says: an address, not an offset into a file.
    const auto* start = reinterpret_cast<const unsigned char*>(object->dlpi_addr + part.p_vaddr);
    std::string id = build_id_in(start, start + part.p_memsz);
    if (!id.empty()) *static_cast<std::string*>(found) = std::move(id);
  }
  return 1;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  utsname names{};
  return ::uname(&names) == 0 ? names.machine : "unknown";
}

std::string kernel_name() {
  utsname names{};
  if (::uname(&names) != 0) return "unknown";
  return std::string(names.sysname) + " " + names.release + " " + names.machine;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[32] = "unknown";
  if (::gmtime_r(&now, &parts) != nullptr) std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

bool plain_in_a_shell(const std::string& word) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/@%";
  return !word.empty() && word.find_first_not_of(plain) == std::string::npos;
}

}  // namespace

std::string build_id() {
  std::string found = "unknown";
  ::dl_iterate_phdr(find_build_id, &found);
  return found;
}

std::string command_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (plain_in_a_shell(word)) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

provenance this_provenance(const std::string& device, const std::vector<std::string>& command) {
  const build_identity build = built_as();
  provenance from;
  from.version = build.version;
  from.commit = build.commit;
  from.dirty = build.dirty;
  from.build_id = build_id();
  from.compiler = build.compiler;
  from.build_type = build.build_type;
  from.device = device;
  from.kernel = kernel_name();
  from.driver = "mmap of " + from.kernel;
  from.available_bytes_at_start = available_bytes();
  from.command = command_text(command);
  from.processor = processor_name();
  from.cores = static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  from.memory_bytes = total_bytes();
  from.utc = utc_now();
  return from;
}

std::string provenance_line(const provenance& from) {
  return "arcalloc " + from.version + " commit " + from.commit + " (" + from.dirty + "), build " + from.build_id +
         ", " + from.compiler + " " + from.build_type + "; device " + from.device + ", " +
         mib_text(from.free_bytes_at_start) + " MiB free; " + from.processor + ", " + count_text(from.cores) +
         " cores, " + from.kernel + "; " + from.utc;
}

}  // namespace arcalloc::cli
