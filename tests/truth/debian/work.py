# SPDX-License-Identifier: MIT
# Recursion, dictionaries, sorting, an exception.
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


strings = {}
for i in range(800):
    strings.setdefault(i * 7919 % 97, []).append(str(i))
print(fibonacci(13), sum(len("".join(v)) for v in strings.values()))
print(sorted(strings.items(), key=lambda item: (len(item[1]), item[0]))[0][0])
try:
    {}["x"]
except KeyError as error:
    print(repr(error))
