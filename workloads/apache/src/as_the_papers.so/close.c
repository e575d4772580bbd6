/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Preloaded: a connection whose reply was sent is closed at once, as by the authors' Apache, which they built with NO_LINGCLOSE.
 *
 * Apache shuts its side down, waits in poll() until the client has closed the other, and only then closes the connection. Where
 * the connection cannot be shut down it closes at once, which is what NO_LINGCLOSE does.
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int shutdown(int socket, int how)
{
    if (how == SHUT_WR) {
        errno = ENOTCONN;
        return -1;
    }
    return (int)syscall(SYS_shutdown, socket, how);
}
