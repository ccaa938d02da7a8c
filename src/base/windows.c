// SPDX-License-Identifier: MIT
/** @file What Windows does in its own way; empty elsewhere. */
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

static int fail(void)
{
    switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND: errno = ENOENT; break;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION: errno = EACCES; break;
    case ERROR_NOT_ENOUGH_MEMORY: errno = ENOMEM; break;
    default: errno = EIO;
    }
    return -1;
}

void pug_windows_begin(void)
{
    for (int stream = 0; stream < 3; stream++)
        _setmode(stream, _O_BINARY);
}

ssize_t pug_windows_pread(int file, void *bytes, size_t size, uint64_t offset)
{
    OVERLAPPED at = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
    const DWORD most = 1u << 30;
    DWORD got = 0;
    if (ReadFile((HANDLE)_get_osfhandle(file), bytes, size < most ? (DWORD)size : most, &got, &at))
        return (ssize_t)got;
    return GetLastError() == ERROR_HANDLE_EOF ? 0 : fail();
}

void *pug_windows_map(int file, size_t size)
{
    HANDLE mapping =
        CreateFileMappingA((HANDLE)_get_osfhandle(file), NULL, PAGE_READONLY, 0, 0, NULL);
    void *bytes = mapping ? MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, size) : NULL;
    if (!bytes)
        (void)fail();
    if (mapping)
        CloseHandle(mapping); /* the view keeps it */
    return bytes ? bytes : MAP_FAILED;
}

int pug_windows_unmap(void *bytes)
{
    return UnmapViewOfFile(bytes) ? 0 : fail();
}

int pug_windows_rename(const char *from, const char *to)
{
    return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING) ? 0 : fail();
}

int pug_windows_temporary(void)
{
    char folder[MAX_PATH], path[MAX_PATH];
    if (!GetTempPathA(sizeof(folder), folder) || !GetTempFileNameA(folder, "pug", 0, path))
        return fail();
    return _open(path, _O_RDWR | _O_TRUNC | _O_TEMPORARY | O_CLOEXEC);
}
#endif
