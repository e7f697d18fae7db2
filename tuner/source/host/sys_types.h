#pragma once
using uint = unsigned int;
using ushort = unsigned short;
using ulong = unsigned long;
