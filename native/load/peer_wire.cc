// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/peer_wire.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "native/nic/bytes.h"
#include "native/nic/pace.h"

namespace mosbench::load {

namespace {

constexpr uint64_t kStepNs = 100000;
constexpr uint32_t kLengthBytes = 4, kLongest = 65536, kShortest = 60;

int connect_to(const std::string &path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) {
        throw std::runtime_error("nic_peer: " + path + " is too long for the name of a socket");
    }
    std::copy(path.begin(), path.end(), address.sun_path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0) {
        const std::string why = std::strerror(errno);
        if (fd >= 0) {
            close(fd);
        }
        throw std::runtime_error("nic_peer: cannot connect to " + path + " (" + why + ")");
    }
    return fd;
}

} // namespace

PeerWire::PeerWire(const std::string &path, double gbits_per_second, Events &events, ToCard to_card)
    : gbits_per_second_(gbits_per_second), events_(events), to_card_(std::move(to_card)), socket_(connect_to(path))
{
}

PeerWire::~PeerWire()
{
    end();
}

void PeerWire::end()
{
    if (socket_ >= 0) {
        close(socket_);
        socket_ = -1;
    }
}

void PeerWire::from_card(std::span<const uint8_t> frame, uint64_t ns)
{
    std::vector<uint8_t> message(kLengthBytes + frame.size());
    nic::store32(message.data(), static_cast<uint32_t>(frame.size()));
    std::copy(frame.begin(), frame.end(), message.begin() + kLengthBytes);
    for (size_t done = 0; done < message.size() && !ended();) {
        const ssize_t written = ::send(socket_, &message[done], message.size() - done, MSG_NOSIGNAL);
        if (written >= 0) {
            done += static_cast<size_t>(written);
        } else if (errno != EINTR) {
            end();
        }
    }
    sent_ += !ended();
    if (!looking_) {
        looking_ = true;
        looked_ = std::chrono::steady_clock::now();
        look(ns);
    }
}

void PeerWire::look(uint64_t ns)
{
    events_.at(ns + kStepNs, [this, now = ns + kStepNs] {
        wait_for_the_host();
        receive();
        take_frames(now);
        if (!ended()) {
            look(now);
        }
    });
}

void PeerWire::wait_for_the_host()
{
    const auto until = looked_ + std::chrono::nanoseconds(kStepNs);
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - std::chrono::steady_clock::now()).count();
    if (left > 0 && !ended()) {
        pollfd wanted{.fd = socket_, .events = POLLIN, .revents = 0};
        const timespec patience{.tv_sec = 0, .tv_nsec = left};
        ppoll(&wanted, 1, &patience, nullptr);
    }
    looked_ = std::chrono::steady_clock::now();
}

void PeerWire::receive()
{
    uint8_t data[kLongest];
    while (!ended()) {
        const ssize_t bytes = recv(socket_, data, sizeof(data), MSG_DONTWAIT);
        if (bytes > 0) {
            pending_.insert(pending_.end(), data, data + bytes);
        } else if (bytes < 0 && errno == EINTR) {
            continue;
        } else {
            if (bytes == 0 || errno != EAGAIN) {
                end();
            }
            return;
        }
    }
}

// They come one after the other, as fast as the wire is.
void PeerWire::take_frames(uint64_t ns)
{
    size_t at = 0;
    while (pending_.size() - at >= kLengthBytes) {
        const uint32_t bytes = nic::load32(&pending_[at]);
        if (bytes == 0 || bytes > kLongest) {
            end();
            pending_.clear();
            return;
        }
        if (pending_.size() - at < kLengthBytes + bytes) {
            break;
        }
        const auto first = pending_.begin() + static_cast<ptrdiff_t>(at + kLengthBytes);
        std::vector<uint8_t> frame(first, first + bytes);
        frame.resize(std::max(bytes, kShortest));
        wire_free_ns_ = std::max(ns, wire_free_ns_) + nic::wire_ns(frame.size(), gbits_per_second_);
        received_++;
        events_.at(wire_free_ns_, [this, frame = std::move(frame)] { to_card_(frame); });
        at += kLengthBytes + bytes;
    }
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(at));
}

} // namespace mosbench::load
