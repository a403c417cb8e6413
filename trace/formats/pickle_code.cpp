// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/pickle_code.hpp"

namespace arcalloc::trace {

namespace {

struct named_op {
  unsigned code;
  const char* name;
};

/// What imports, calls, or asks the one who loads for an object.
constexpr named_op running_ops[] = {{'c', "GLOBAL"},       {'R', "REDUCE"}, {'b', "BUILD"},     {'i', "INST"},
                                    {'o', "OBJ"},          {'P', "PERSID"}, {'Q', "BINPERSID"}, {0x81, "NEWOBJ"},
                                    {0x82, "EXT1"},        {0x83, "EXT2"},  {0x84, "EXT4"},     {0x92, "NEWOBJ_EX"},
                                    {0x93, "STACK_GLOBAL"}};

constexpr unsigned protocol_min = 2;
constexpr unsigned protocol_max = 4;
constexpr std::size_t number_bytes = 8;

}  // namespace

pickle_code::pickle_code(byte_source& from) : from_(from) {
  from_.rewind();
  if (!from_.ahead_of(2).starts_with('\x80')) from_.refuse("expected a pickle of protocol 2 to 4");
}

void pickle_code::reload() {
  if (begin_ != nullptr) from_.skip(static_cast<std::size_t>(at_ - begin_));
  const std::string_view ahead = from_.ahead_of(reload_bytes);
  begin_ = at_ = op_ = ahead.data();
  end_ = begin_ + ahead.size();
}

std::string_view pickle_code::argument(std::size_t bytes) {
  if (static_cast<std::size_t>(end_ - at_) < bytes) refuse_end();
  const std::string_view found(at_, bytes);
  at_ += bytes;
  return found;
}

void pickle_code::pass_over(std::uint64_t bytes) {
  if (bytes <= static_cast<std::uint64_t>(end_ - at_)) {
    at_ += bytes;
    return;
  }
  // The opcode is no longer shown then; what is refused next is refused where its argument ends.
  from_.skip(static_cast<std::size_t>(at_ - begin_));
  begin_ = at_ = op_ = end_ = nullptr;
  if (!from_.skip_unseen(bytes)) refuse_end();
}

void pickle_code::take_integer(std::string_view little_endian) {
  number_ = 0;
  for (std::size_t i = little_endian.size(); i-- > 0;) {
    number_ = number_ << 8 | static_cast<unsigned char>(little_endian[i]);
  }
  is_number_ = true;
}

void pickle_code::take_long(std::uint64_t bytes) {
  // Two's complement: a ninth byte may be there for the sign alone.
  if (bytes > number_bytes + 1) {
    pass_over(bytes);
    is_number_ = false;
    return;
  }
  const std::string_view coded = argument(static_cast<std::size_t>(bytes));
  const bool is_negative = !coded.empty() && (static_cast<unsigned char>(coded.back()) & 0x80) != 0;
  const bool is_wide = coded.size() == number_bytes + 1;
  take_integer(coded.substr(0, number_bytes));
  is_number_ = !is_negative && (!is_wide || coded.back() == '\0');
}

void pickle_code::take_text(std::uint64_t bytes) {
  text_ = {};
  if (bytes > text_bytes_max) return pass_over(bytes);
  text_ = argument(static_cast<std::size_t>(bytes));
}

bool pickle_code::take_argument(pickle_op op) {
  const unsigned follows = arguments[static_cast<unsigned char>(op)];
  if (follows <= 4) {
    take_integer(argument(follows));
  } else {
    switch (op) {
      case pickle_op::stop:
        break;
      case pickle_op::int_4:
        take_integer(argument(4));
        is_number_ = number_ < 0x80000000U;
        break;
      case pickle_op::long_1:
      case pickle_op::text_1:
        take_integer(argument(1));
        break;
      case pickle_op::long_4:
      case pickle_op::text_4:
        take_integer(argument(4));
        break;
      case pickle_op::real:
        argument(8);
        break;
      case pickle_op::frame:
        // How the bytes came in pieces; their sum is not wrong when a piece says so.
        argument(8);
        return false;
      case pickle_op::protocol:
        take_protocol();
        return false;
      default:
        refuse_op(static_cast<unsigned>(op));
    }
  }
  if (op == pickle_op::text_1 || op == pickle_op::text_4) take_text(number_);
  // The length has a sign in the longer of the two.
  if (op == pickle_op::long_4 && number_ >= 0x80000000U) refuse("a number of negative length");
  if (op == pickle_op::long_1 || op == pickle_op::long_4) take_long(number_);
  if (op == pickle_op::stop) {
    reload();
    if (at_ != end_) from_.refuse("the file goes on after its end");
  }
  return true;
}

void pickle_code::take_protocol() {
  const auto version = static_cast<unsigned char>(argument(1).front());
  if (version >= protocol_min && version <= protocol_max) return;
  refuse("pickle protocol " + std::to_string(version) + "; 2 to 4 are read");
}

void pickle_code::refuse_end() const { refuse("the file ends early"); }

void pickle_code::refuse_op(unsigned code) const {
  for (const named_op& one : running_ops) {
    if (one.code == code) refuse(std::string("the opcode ") + one.name + " could run code: refused");
  }
  constexpr char digits[] = "0123456789abcdef";
  refuse(std::string("the opcode 0x") + digits[code >> 4] + digits[code & 15] + " makes nothing that a snapshot holds");
}

}  // namespace arcalloc::trace
