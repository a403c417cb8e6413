// SPDX-License-Identifier: Apache-2.0
// Whose precompiled headers the tests share; it does nothing itself.
int main() { return 0; }
