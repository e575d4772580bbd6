// SPDX-License-Identifier: BSD-3-Clause
//
// A stand-in for what the code that SLICC writes wants of gem5: buffers, caches, tables, controllers and the statistics that it
// declares, each as small as can be. Messages take random times; what a MessageBuffer keeps in order is as in gem5.
// Names are gem5's, since generated code uses them.
#ifndef MOSBENCH_TESTS_PROTOCOL_STAND_IN_RUBY_H
#define MOSBENCH_TESTS_PROTOCOL_STAND_IN_RUBY_H

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
#define DPRINTF(...)                                                                                                             \
    do {                                                                                                                         \
    } while (0)
#define DPRINTFR(...)                                                                                                            \
    do {                                                                                                                         \
    } while (0)
#define DPRINTFN(...)                                                                                                            \
    do {                                                                                                                         \
    } while (0)
#define panic(...) (::gem5::die(__FILE__, __LINE__, #__VA_ARGS__))
#define fatal(...) (::gem5::die(__FILE__, __LINE__, #__VA_ARGS__))
#define gem5_assert(...) assert(__VA_ARGS__)
#define warn(...)                                                                                                                \
    do {                                                                                                                         \
    } while (0)
namespace gem5 {
[[noreturn]] void die(const char *file, int line, const char *what);
using Addr = uint64_t;
using Tick = uint64_t;
using RequestorID = uint16_t;
class Cycles {
    uint64_t c;

  public:
    explicit constexpr Cycles(uint64_t x) : c(x) {}
    constexpr Cycles() : c(0) {}
    constexpr operator uint64_t() const { return c; }
};
struct Packet {};
using PacketPtr = Packet *;
struct Request {};
using RequestPtr = std::shared_ptr<Request>;
Tick curTick();
namespace statistics {
struct Group {};
enum { pdf = 1, total = 2, oneline = 4, nozero = 8 };
struct Scalar {
    double v = 0;
    Scalar() {}
    Scalar(Group *, const char *) {}
    void flags(int) {}
    void operator++(int) { v++; }
    Scalar &operator=(double) { return *this; }
    template <class T> void sample(T) {}
};
struct Vector {
    std::vector<double> v;
    Vector(Group *, const char *) {}
    void init(int n) { v.resize(n); }
    void flags(int) {}
    double &operator[](int i) { return v[i]; }
};
struct Histogram {
    Histogram(Group *, const char *) {}
    void init(int) {}
    void flags(int) {}
    template <class T> void sample(T) {}
};
} // namespace statistics
namespace prefetch {
struct Base;
}
namespace ruby {
class Message;
class AbstractController;
class MessageBuffer;
class RubySystem;
class CacheRecorder;
class GPUCoalescer;
class Sequencer;
class DMASequencer;
class Network;
typedef std::shared_ptr<Message> MsgPtr;
typedef unsigned int NodeID;
typedef unsigned int SwitchID;
struct RejectException : std::exception {};
inline Addr makeLineAddress(Addr a)
{
    return a & ~Addr{63};
}
inline int getOffset(Addr a)
{
    return a & 63;
}
inline std::string printAddress(Addr a)
{
    std::ostringstream s;
    s << std::hex << a;
    return s.str();
}
struct WriteMask {
    void setMask(int, int, bool = true) {}
    void setInvertedMask(WriteMask &) {}
    bool isEmpty() { return true; }
    void orMask(WriteMask &) {}
    friend std::ostream &operator<<(std::ostream &o, const WriteMask &) { return o; }
};
struct DataBlock {
    uint8_t d[64] = {};
    void copyPartial(const DataBlock &o, int off, int len) { memcpy(d + off, o.d + off, len); }
    void clear() { memset(d, 0, 64); }
    const uint8_t *getData(int off, int) const { return d + off; }
    friend std::ostream &operator<<(std::ostream &o, const DataBlock &) { return o; }
};
inline bool testAndRead(Addr, DataBlock &, Packet *)
{
    return false;
}
inline bool testAndReadMask(Addr, DataBlock &, WriteMask &, Packet *)
{
    return false;
}
inline bool testAndWrite(Addr, DataBlock &, Packet *)
{
    return false;
}
inline int addressOffset(Addr a, Addr b)
{
    return int(a - b);
}
} // namespace ruby
} // namespace gem5
#include "mem/ruby/protocol/AccessPermission.hh"
#include "mem/ruby/protocol/MachineType.hh"
#include "mem/ruby/protocol/MessageSizeType.hh"
#include "mem/ruby/protocol/PrefetchBit.hh"
#include "mem/ruby/protocol/RubyAccessMode.hh"
#include "mem/ruby/protocol/RubyRequestType.hh"
#include "mem/ruby/protocol/TransitionResult.hh"
namespace gem5 {
namespace ruby {
struct MachineID {
    MachineType type = MachineType_NUM;
    NodeID num = 0;
    NodeID getNum() const { return num; }
    MachineType getType() const { return type; }
    bool operator==(const MachineID &o) const { return type == o.type && num == o.num; }
    bool operator!=(const MachineID &o) const { return !(*this == o); }
    bool operator<(const MachineID &o) const { return type != o.type ? type < o.type : num < o.num; }
    friend std::ostream &operator<<(std::ostream &o, const MachineID &m) { return o << MachineType_to_string(m.type) << m.num; }
};
struct NetDest {
    std::map<int, uint64_t> bits;
    void add(const MachineID &m) { bits[m.type] |= 1ull << m.num; }
    void remove(const MachineID &m)
    {
        auto i = bits.find(m.type);
        if (i != bits.end() && !(i->second &= ~(1ull << m.num)))
            bits.erase(i);
    }
    bool isElement(const MachineID &m) const
    {
        auto i = bits.find(m.type);
        return i != bits.end() && (i->second >> m.num & 1);
    }
    void addNetDest(const NetDest &o)
    {
        for (auto &b : o.bits)
            bits[b.first] |= b.second;
    }
    NetDest AND(const NetDest &o) const
    {
        NetDest both;
        for (auto &b : bits)
            if (auto i = o.bits.find(b.first); i != o.bits.end() && (b.second & i->second))
                both.bits[b.first] = b.second & i->second;
        return both;
    }
    bool isEmpty() const { return bits.empty(); }
    int count() const
    {
        int n = 0;
        for (auto &b : bits)
            n += __builtin_popcountll(b.second);
        return n;
    }
    void clear() { bits.clear(); }
    void broadcast(MachineType t)
    {
        for (int i = 0; i < MachineType_base_count(t); i++)
            add(MachineID{t, NodeID(i)});
    }
    std::vector<MachineID> all() const
    {
        std::vector<MachineID> r;
        for (auto &b : bits)
            for (int i = 0; i < 64; i++)
                if (b.second >> i & 1)
                    r.push_back({MachineType(b.first), NodeID(i)});
        return r;
    }
    friend std::ostream &operator<<(std::ostream &o, const NetDest &d)
    {
        for (auto &m : d.all())
            o << m << ' ';
        return o;
    }
};
class Message {
  public:
    Message(Tick t) : m_time(t) {}
    Message(const Message &) = default;
    virtual ~Message() {}
    virtual MsgPtr clone() const = 0;
    virtual void print(std::ostream &o) const = 0;
    virtual const MessageSizeType &getMessageSize() const { panic(); }
    virtual MessageSizeType &getMessageSize() { panic(); }
    virtual bool functionalRead(Packet *) { return false; }
    virtual bool functionalRead(Packet *, WriteMask &) { return false; }
    virtual bool functionalWrite(Packet *) { return false; }
    virtual const NetDest &getDestination() const { panic(); }
    virtual NetDest &getDestination() { panic(); }
    Tick m_time, at = 0;
    uint64_t n = 0;
};
inline std::ostream &operator<<(std::ostream &o, const Message &m)
{
    m.print(o);
    return o;
}
class RubyRequest : public Message {
  public:
    RubyRequest(Tick t) : Message(t) {}
    Addr m_LineAddress = 0, m_PhysicalAddress = 0;
    RubyRequestType m_Type = RubyRequestType_LD;
    MsgPtr clone() const override { return std::make_shared<RubyRequest>(*this); }
    void print(std::ostream &) const override {}
    const Addr &getLineAddress() const { return m_LineAddress; }
    const RubyRequestType &getType() const { return m_Type; }
};
struct AbstractCacheEntry {
    virtual ~AbstractCacheEntry() {}
    AccessPermission m_Permission = AccessPermission_NotPresent;
    uint64_t last = 0;
    Addr tag = 0;
    const char *getName() { return ""; }
    void changePermission(AccessPermission p) { m_Permission = p; }
    virtual DataBlock &getDataBlk() { panic(); }
    virtual void print(std::ostream &) const {}
};
inline std::ostream &operator<<(std::ostream &o, const AbstractCacheEntry &)
{
    return o;
}
// In order of arrival. A head may be parked under an address till it is woken. `to`: the network, if the buffer leads into it.
class MessageBuffer {
  public:
    MessageBuffer(bool ordered) : ordered(ordered) {}
    void enqueue(MsgPtr m, Tick now, Tick delta, bool = false);
    void arrive(MsgPtr m, Tick at);
    bool isReady(Tick t) const { return !heap.empty() && heap.begin()->first.first <= t; }
    const Message *peek() const { return heap.begin()->second.get(); }
    Tick dequeue(Tick, bool = true)
    {
        heap.erase(heap.begin());
        return 0;
    }
    void delayHead(Tick now, Tick delta)
    {
        auto m = heap.begin()->second;
        heap.erase(heap.begin());
        arrive(m, now + delta);
    }
    void recycle(Tick now, Tick l) { delayHead(now, l); }
    void stallMessage(Addr a, Tick)
    {
        stalled[a].push_back(heap.begin()->second);
        heap.erase(heap.begin());
    }
    void reanalyzeMessages(Addr a, Tick now)
    {
        auto i = stalled.find(a);
        if (i == stalled.end())
            return;
        for (auto &m : i->second)
            put(m, now);
        stalled.erase(i);
        wake(now);
    }
    void reanalyzeAllMessages(Tick now)
    {
        auto s = std::move(stalled);
        stalled.clear();
        for (auto &l : s)
            for (auto &m : l.second)
                put(m, now);
        wake(now);
    }
    bool areNSlotsAvailable(int, Tick) const { return true; }
    bool getOrdered() const { return ordered; }
    bool functionalRead(Packet *) { return false; }
    bool functionalRead(Packet *, WriteMask &) { return false; }
    uint32_t functionalWrite(Packet *) { return 0; }
    void setConsumer(AbstractController *c) { consumer = c; }
    void setVnet(int) {}
    void setDescription(std::string) {}
    bool isEmpty() const { return heap.empty() && stalled.empty(); }
    bool ordered;
    AbstractController *consumer = nullptr;
    Tick last = 0;
    std::function<void(MsgPtr, Tick)> to; // network
    void put(MsgPtr m, Tick at)
    {
        m->at = at;
        heap[{at, m->n}] = m;
    }
    void wake(Tick);
    std::map<std::pair<Tick, uint64_t>, MsgPtr> heap;
    std::map<Addr, std::vector<MsgPtr>> stalled;
};
inline std::ostream &operator<<(std::ostream &o, const MessageBuffer &)
{
    return o;
}
// Least recently used goes first.
class CacheMemory {
  public:
    CacheMemory(int sets, int ways, int interleave = 1) : sets(sets), ways(ways), interleave(interleave) {}
    int set(Addr a) const { return a / 64 / interleave % sets; }
    AbstractCacheEntry *lookup(Addr a)
    {
        auto i = lines.find(a);
        return i == lines.end() ? nullptr : i->second;
    }
    bool isTagPresent(Addr a) const { return lines.count(a); }
    int used(Addr a) const
    {
        int n = 0;
        for (auto &l : lines)
            n += set(l.first) == set(a);
        return n;
    }
    bool cacheAvail(Addr a) const { return lines.count(a) || used(a) < ways; }
    Addr cacheProbe(Addr a) const
    {
        assert(!cacheAvail(a));
        Addr best = 0;
        uint64_t t = ~0ull;
        for (auto &l : lines)
            if (set(l.first) == set(a) && l.second->last < t) {
                t = l.second->last;
                best = l.first;
            }
        return best;
    }
    AbstractCacheEntry *allocate(Addr a, AbstractCacheEntry *e)
    {
        assert(!lines.count(a) && used(a) < ways);
        e->tag = a;
        e->last = ++clock;
        return lines[a] = e;
    }
    void deallocate(Addr a)
    {
        auto i = lines.find(a);
        assert(i != lines.end());
        delete i->second;
        lines.erase(i);
    }
    void setMRU(Addr a)
    {
        if (auto *e = lookup(a))
            e->last = ++clock;
    }
    void setMRU(AbstractCacheEntry *e) { e->last = ++clock; }
    AbstractCacheEntry *getNullEntry() { return nullptr; }
    void profileDemandHit() {}
    void profileDemandMiss() {}
    void recordCacheContents(int, CacheRecorder *) const {}
    int sets, ways, interleave;
    uint64_t clock = 0;
    std::map<Addr, AbstractCacheEntry *> lines;
};
inline std::ostream &operator<<(std::ostream &o, const CacheMemory &)
{
    return o;
}
template <class T> class TBETable {
  public:
    TBETable(int) {}
    bool isPresent(Addr a) const
    {
        assert(!(a & 63));
        return m.count(a);
    }
    void allocate(Addr a)
    {
        assert(!m.count(a));
        m[a];
    }
    void deallocate(Addr a)
    {
        assert(m.count(a));
        m.erase(a);
    }
    T *lookup(Addr a)
    {
        auto i = m.find(a);
        return i == m.end() ? nullptr : &i->second;
    }
    T *getNullEntry() { return nullptr; }
    bool areNSlotsAvailable(int, Tick) const { return true; }
    std::map<Addr, T> m;
    friend std::ostream &operator<<(std::ostream &o, const TBETable &) { return o; }
};
template <class T> class PerfectCacheMemory {
  public:
    bool isTagPresent(Addr a) const { return m.count(a); }
    void allocate(Addr a)
    {
        assert(!m.count(a));
        m[a];
    }
    void deallocate(Addr a)
    {
        assert(m.count(a));
        m.erase(a);
    }
    T *lookup(Addr a) { return &m[a]; }
    std::map<Addr, T> m;
    friend std::ostream &operator<<(std::ostream &o, const PerfectCacheMemory &) { return o; }
};
class Sequencer {
  public:
    virtual ~Sequencer() {}
    void setController(AbstractController *c) { controller = c; }
    virtual void read(Addr, const DataBlock &) = 0;
    virtual void write(Addr, DataBlock &) = 0;
    void readCallback(Addr a, DataBlock &d, bool = false, MachineType = MachineType_NUM) { read(a, d); }
    void writeCallback(Addr a, DataBlock &d, bool = false, MachineType = MachineType_NUM) { write(a, d); }
    void evictionCallback(Addr) {}
    bool isCPUSequencer() { return true; }
    AbstractController *controller = nullptr;
};
class DMASequencer {
  public:
    virtual ~DMASequencer() {}
    void setController(AbstractController *c) { controller = c; }
    virtual void dataCallback(const DataBlock &, const Addr &) = 0;
    virtual void ackCallback(const Addr &) = 0;
    AbstractController *controller = nullptr;
};
class Network {
  public:
    void setToNetQueue(NodeID, bool, int, std::string, MessageBuffer *) {}
    void setFromNetQueue(NodeID, bool, int, std::string, MessageBuffer *) {}
};
struct Profiler {
    statistics::Group rubyProfilerStats;
};
class RubySystem {
  public:
    void registerAbstractController(AbstractController *c) { all.push_back(c); }
    Profiler *getProfiler() { return &p; }
    std::map<int, std::map<uint32_t, AbstractController *>> m_abstract_controls;
    Profiler p;
    std::vector<AbstractController *> all;
    static bool getWarmupEnabled() { return false; }
};
struct RubyControllerParams {
    int version = 0;
    uint32_t cluster_id = 0;
    RubySystem *ruby_system = nullptr;
};
// A cycle is a tick.
class AbstractController {
  public:
    typedef RubyControllerParams Params;
    AbstractController(const Params &p) : m_version(p.version), m_clusterID(p.cluster_id), params_(p) {}
    virtual ~AbstractController() {}
    const Params &params() const { return params_; }
    virtual void init() {}
    virtual void wakeup() = 0;
    virtual void regStats() {}
    virtual void resetStats() {}
    virtual void print(std::ostream &) const = 0;
    virtual MessageBuffer *getMemReqQueue() const = 0;
    virtual MessageBuffer *getMemRespQueue() const = 0;
    virtual MessageBuffer *getMandatoryQueue() const = 0;
    virtual void initNetQueues() = 0;
    Tick clockEdge() const { return curTick(); }
    Tick cyclesToTicks(Cycles c) const { return uint64_t(c); }
    Cycles ticksToCycles(Tick t) const { return Cycles(t); }
    Cycles curCycle() const { return Cycles(curTick()); }
    void scheduleEvent(Cycles c);
    void stallBuffer(MessageBuffer *b, Addr a) { waiting[a][m_cur_in_port].insert(b); }
    void wakeUpBuffers(Addr a)
    {
        auto i = waiting.find(a);
        if (i == waiting.end())
            return;
        for (int r = m_cur_in_port - 1; r >= 0; r--) {
            auto j = i->second.find(r);
            if (j == i->second.end())
                continue;
            for (auto *b : j->second)
                b->reanalyzeMessages(a, clockEdge());
            i->second.erase(j);
        }
        if (i->second.empty())
            waiting.erase(i);
    }
    void wakeUpAllBuffers()
    {
        std::set<MessageBuffer *> s;
        for (auto &i : waiting)
            for (auto &j : i.second)
                s.insert(j.second.begin(), j.second.end());
        waiting.clear();
        for (auto *b : s)
            b->reanalyzeAllMessages(clockEdge());
    }
    void blockOnQueue(Addr a, MessageBuffer *b)
    {
        m_is_blocking = true;
        m_block_map[a] = b;
    }
    void unblock(Addr a)
    {
        m_block_map.erase(a);
        m_is_blocking = !m_block_map.empty();
    }
    bool isBlocked(Addr a) const { return m_block_map.count(a); }
    MachineID mapAddressToMachine(const Addr &a, const MachineType &t) const { return {t, NodeID((a >> 6) % homes)}; }
    void functionalMemoryRead(Packet *) {}
    int functionalMemoryWrite(Packet *) { return 0; }
    bool serviceMemoryQueue();
    MachineID getMachineID() const { return m_machineID; }
    static int homes;
    int m_version;
    NodeID m_clusterID;
    int m_number_of_TBEs = 1024, m_transitions_per_cycle = 32, m_in_ports = 0, m_cur_in_port = 0;
    Cycles m_recycle_latency{10};
    MachineID m_machineID;
    Network *m_net_ptr = nullptr;
    bool m_is_blocking = false;
    std::map<Addr, MessageBuffer *> m_block_map;
    std::map<Addr, std::map<int, std::set<MessageBuffer *>>> waiting;
    struct Stats : statistics::Group {
        statistics::Scalar fullyBusyCycles;
        std::map<int, statistics::Histogram *> outTransLatHist, inTransLatHist;
        std::map<int, statistics::Scalar *> outTransRetryCnt, inTransRetryCnt;
        std::map<int, std::map<int, std::vector<statistics::Scalar *>>> inTransStateChanges;
    } stats;

  private:
    const Params params_;
};
inline std::ostream &operator<<(std::ostream &o, const AbstractController &c)
{
    c.print(o);
    return o;
}
inline int machineCount(MachineType t)
{
    return MachineType_base_count(t);
}
inline MachineType machineIDToMachineType(MachineID m)
{
    return m.type;
}
inline NodeID machineIDToNodeID(MachineID machine)
{
    return machine.num;
}
inline int IDToInt(NodeID i)
{
    return int(i);
}
inline NodeID intToID(int i)
{
    return NodeID(i);
}
inline MachineID createMachineID(MachineType t, NodeID i)
{
    return {t, i};
}
} // namespace ruby
} // namespace gem5

#endif
