// SPDX-License-Identifier: BSD-3-Clause
//
// protocol-tester SOCKETS CORES SEED ACCESSES LINES DEVICES FILTER
//
// FILTER: entries of each home's probe filter. The protocol's source under random load, without gem5: cores and devices access a
// few lines, with caches of some lines each and messages that take random times. Checked: each core and device has a byte of
// every line for its own and must read what it wrote last; the last eight bytes are a counter that cores add to by locked
// instructions, which must lose nothing and never go back; every access ends, and nothing is left open. Prints how often each
// state met each event.
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <tuple>

#include "protocol.cc"

namespace gem5 {

namespace {

Tick now = 0;
std::mt19937_64 generator;

uint64_t below(uint64_t limit)
{
    return generator() % limit;
}

} // namespace

Tick curTick()
{
    return now;
}

void die(const char *file, int line, const char *what)
{
    std::printf("fault: %s (%s:%d) at %lu\n", what, file, line, static_cast<unsigned long>(now));
    std::fflush(stdout);
    std::_Exit(1);
}

namespace ruby {

namespace {

constexpr int kCounterAt = 56, kLongDelay = 300;
constexpr Tick kForEver = 2'000'000, kSilence = 200'000;

std::set<std::pair<Tick, AbstractController *>> wakeups;
std::map<Addr, DataBlock> memory;
uint64_t messages = 0;

Tick delay()
{
    const Tick usual = 1 + below(4);
    return below(8) == 0 ? usual + below(kLongDelay) : usual;
}

} // namespace

int AbstractController::homes = 1;

void AbstractController::scheduleEvent(Cycles cycles)
{
    wakeups.insert({now + cycles, this});
}

void MessageBuffer::wake(Tick at)
{
    if (consumer != nullptr) {
        wakeups.insert({std::max(at, now), consumer});
    }
}

void MessageBuffer::arrive(MsgPtr message, Tick at)
{
    message->n = ++messages;
    put(message, at);
    wake(at);
}

void MessageBuffer::enqueue(MsgPtr message, Tick time, Tick least, bool)
{
    assert(least > 0);
    const Tick at = ordered ? (last = std::max(last, time) + delay()) : time + delay();
    if (to) {
        to(message, at);
    } else {
        arrive(message, at);
    }
}

// Memory does what it is asked in order, and answers later.
bool AbstractController::serviceMemoryQueue()
{
    MessageBuffer *queue = getMemReqQueue();
    const auto *request = static_cast<const MemoryMsg *>(queue->peek());
    auto answer = std::make_shared<MemoryMsg>(now);
    answer->m_addr = request->m_addr;
    answer->m_Type = request->m_Type;
    answer->m_OriginalRequestorMachId = request->m_Sender;
    DataBlock &line = memory[makeLineAddress(request->m_addr)];
    if (request->m_Type == MemoryRequestType_MEMORY_WB) {
        line.copyPartial(request->m_DataBlk, getOffset(request->m_addr), request->m_Len != 0 ? request->m_Len : 64);
    } else {
        answer->m_DataBlk = line;
    }
    queue->dequeue(now);
    getMemRespQueue()->arrive(answer, now + 3 + delay());
    scheduleEvent(Cycles(1));
    return true;
}

namespace {

uint64_t counter(const DataBlock &line)
{
    uint64_t value;
    std::memcpy(&value, line.d + kCounterAt, sizeof value);
    return value;
}

// What was seen of each line's counter, and what was added.
std::map<Addr, uint64_t> seen, added;
uint64_t done = 0;
int lines = 0;

struct Access {
    enum Kind { load, fetch, store, lock, unlock } kind;
    Tick since;
    uint8_t value;    // to store
    uint64_t counted; // lock: what was read
    uint64_t least;   // of the counter: what somebody had seen when the access began
};

// Its own byte must be what it wrote last, and the counter at least what anybody had seen before.
void check(const DataBlock &line, Addr address, int own, uint8_t expected, const Access &access)
{
    if (line.d[own] != expected) {
        panic("a core or device reads old data");
    }
    if (counter(line) < access.least) {
        panic("a counter goes back");
    }
    seen[address] = std::max(seen[address], counter(line));
}

class Core : public Sequencer {
  public:
    Core(int number, MessageBuffer *queue) : number_(number), queue_(queue) {}

    void access()
    {
        const Addr address = below(lines) * 64;
        if (under_way.size() >= 4 || under_way.count(address) != 0) {
            return;
        }
        const auto kind = static_cast<Access::Kind>(below(4));
        under_way[address] = {kind, now, static_cast<uint8_t>(below(256)), 0, seen[address]};
        ask(address, kind == Access::load    ? RubyRequestType_LD
                     : kind == Access::fetch ? RubyRequestType_IFETCH
                                             : RubyRequestType_ST);
    }

    void read(Addr address, const DataBlock &line) override
    {
        Access &access = expected(address);
        assert(access.kind == Access::load || access.kind == Access::fetch);
        check(line, address, number_, mine_[address], access);
        end(address);
    }

    void write(Addr address, DataBlock &line) override
    {
        Access &access = expected(address);
        check(line, address, number_, mine_[address], access);
        if (access.kind == Access::store) {
            line.d[number_] = mine_[address] = access.value;
            end(address);
        } else if (access.kind == Access::lock) { // the line may not leave till the other half has written
            access.counted = counter(line);
            access.kind = Access::unlock;
            controller->blockOnQueue(address, queue_);
            ask(address, RubyRequestType_ST);
        } else {
            assert(access.kind == Access::unlock);
            if (counter(line) != access.counted || access.counted != added[address]) {
                panic("a locked instruction was not alone");
            }
            const uint64_t value = ++added[address];
            std::memcpy(line.d + kCounterAt, &value, sizeof value);
            seen[address] = value;
            controller->unblock(address);
            end(address);
        }
    }

    std::map<Addr, Access> under_way;

  private:
    Access &expected(Addr address)
    {
        const auto found = under_way.find(address);
        if (found == under_way.end()) {
            panic("an answer to nothing");
        }
        return found->second;
    }

    void end(Addr address)
    {
        under_way.erase(address);
        done++;
    }

    void ask(Addr address, RubyRequestType type)
    {
        auto request = std::make_shared<RubyRequest>(now);
        request->m_LineAddress = request->m_PhysicalAddress = address;
        request->m_Type = type;
        queue_->arrive(request, now + 1 + below(20));
    }

    const int number_;
    MessageBuffer *const queue_;
    std::map<Addr, uint8_t> mine_;
};

class Device : public DMASequencer {
  public:
    Device(int own, MessageBuffer *queue) : own_(own), queue_(queue) {}

    void access()
    {
        const Addr address = below(lines) * 64;
        if (under_way.size() >= 3 || under_way.count(address) != 0) {
            return;
        }
        const bool write = below(2) != 0;
        const Access access{write ? Access::store : Access::load, now, static_cast<uint8_t>(below(256)), 0, seen[address]};
        under_way[address] = access;
        auto request = std::make_shared<SequencerMsg>(now);
        request->m_LineAddress = address;
        request->m_PhysicalAddress = write ? address + own_ : address;
        request->m_Len = write ? 1 : 64;
        request->m_Type = write ? SequencerRequestType_ST : SequencerRequestType_LD;
        request->m_DataBlk.d[own_] = access.value;
        queue_->arrive(request, now + 1);
    }

    void dataCallback(const DataBlock &line, const Addr &address) override
    {
        const Access access = take(address, Access::load);
        check(line, address, own_, mine_[address], access);
    }

    void ackCallback(const Addr &address) override { mine_[address] = take(address, Access::store).value; }

    std::map<Addr, Access> under_way;

  private:
    Access take(Addr address, Access::Kind kind)
    {
        const auto found = under_way.find(address);
        if (found == under_way.end() || found->second.kind != kind) {
            panic("an answer to nothing");
        }
        const Access access = found->second;
        under_way.erase(found);
        done++;
        return access;
    }

    const int own_;
    MessageBuffer *const queue_;
    std::map<Addr, uint8_t> mine_;
};

class System {
  public:
    System(int sockets, int cores, int devices, int filter)
    {
        AbstractController::homes = sockets;
        for (int i = 0; i < sockets * cores; i++) {
            addCore(i, i / cores);
        }
        for (int i = 0; i < sockets; i++) {
            addNode(i);
        }
        for (int i = 0; i < sockets; i++) {
            addHome(i, sockets, filter);
        }
        for (int i = 0; i < devices; i++) {
            addDevice(i, sockets * cores + i);
        }
        for (AbstractController *controller : ruby_.all) {
            controller->init();
            if (MessageBuffer *queue = controller->getMemReqQueue()) {
                queue->setConsumer(controller);
            }
        }
    }

    void run(uint64_t accesses)
    {
        uint64_t before = 0;
        Tick heard = 0;
        while (done < accesses || !idle() || !wakeups.empty()) {
            if (done < accesses) {
                wish();
            }
            while (!wakeups.empty() && wakeups.begin()->first <= now) {
                AbstractController *controller = wakeups.begin()->second;
                wakeups.erase(wakeups.begin());
                controller->wakeup();
            }
            if (done != before) {
                before = done;
                heard = now;
            } else if (now - heard > kSilence && !idle()) {
                panic("nothing goes on");
            }
            if (now % 1024 == 0) {
                overdue();
            }
            now++;
        }
        for (AbstractController *controller : ruby_.all) {
            if (!controller->waiting.empty()) {
                panic("a message is parked for ever");
            }
        }
        for (const L3Cache_Controller *node : nodes_) {
            if (!node->m_TBEs_ptr->m.empty() || !node->m_spilled_ptr->m.empty()) {
                panic("something of a line is open for ever");
            }
        }
    }

    void print() const
    {
        pairs<L1Cache_State, L1Cache_Event>("L1Cache", core_controllers_, L1Cache_State_NUM, L1Cache_Event_NUM);
        pairs<L3Cache_State, L3Cache_Event>("L3Cache", nodes_, L3Cache_State_NUM, L3Cache_Event_NUM);
        pairs<Directory_State, Directory_Event>("Directory", homes_, Directory_State_NUM, Directory_Event_NUM);
    }

  private:
    template <typename State, typename Event, typename Controllers>
    static void pairs(const char *name, const Controllers &controllers, int states, int events)
    {
        for (int s = 0; s < states; s++) {
            for (int e = 0; e < events; e++) {
                const auto state = static_cast<State>(s);
                const auto event = static_cast<Event>(e);
                uint64_t times = 0;
                for (auto *controller : controllers) {
                    times += controller->getTransitionCount(state, event);
                }
                if (controllers.front()->isPossible(state, event)) {
                    std::cout << "pair " << name << ' ' << state << ' ' << event << ' ' << times << '\n';
                }
            }
        }
    }

    bool idle() const
    {
        const auto none = [](const auto *one) { return one->under_way.empty(); };
        return std::all_of(cores_.begin(), cores_.end(), none) && std::all_of(devices_.begin(), devices_.end(), none);
    }

    void wish()
    {
        for (Core *core : cores_) {
            if (below(3) == 0) {
                core->access();
            }
        }
        for (Device *device : devices_) {
            if (below(20) == 0) {
                device->access();
            }
        }
    }

    void overdue() const
    {
        for (const Core *core : cores_) {
            for (const auto &[address, access] : core->under_way) {
                if (now - access.since > kForEver) {
                    panic("a core waits for ever");
                }
            }
        }
    }

    // A buffer into the network, which gives each receiver a copy; those of a sender to a receiver stay in order if they must.
    MessageBuffer *to(MachineType type, int number, int vnet, bool ordered = false)
    {
        auto *buffer = new MessageBuffer(ordered);
        buffer->to = [=, this](MsgPtr message, Tick at) {
            for (const MachineID &receiver : message->getDestination().all()) {
                Tick when = at + delay();
                if (ordered) {
                    Tick &last = last_[{type, number, receiver.type, receiver.num, vnet}];
                    when = last = std::max(last + 1, when);
                }
                received_.at({receiver.type, receiver.num, vnet})->arrive(message->clone(), when);
            }
        };
        return buffer;
    }

    MessageBuffer *from(MachineType type, int number, int vnet, bool ordered = false)
    {
        return received_[{type, static_cast<NodeID>(number), vnet}] = new MessageBuffer(ordered);
    }

    void addCore(int i, int socket)
    {
        L1Cache_ControllerParams p;
        p.version = i;
        p.cluster_id = socket;
        p.ruby_system = &ruby_;
        p.L1Icache = new CacheMemory(2, 1);
        p.L1Dcache = new CacheMemory(2, 1);
        p.L2cache = new CacheMemory(2, 2);
        p.l2_latency = p.request_latency = p.report_latency = Cycles(1);
        p.send_evictions = true;
        p.requestFromCore = to(MachineType_L1Cache, i, 0);
        p.reportFromCore = to(MachineType_L1Cache, i, 3, true);
        p.probeToCore = from(MachineType_L1Cache, i, 4);
        p.grantToCore = from(MachineType_L1Cache, i, 5);
        p.mandatoryQueue = new MessageBuffer(false);
        p.lookupQueue = new MessageBuffer(false);
        cores_.push_back(new Core(i, p.mandatoryQueue));
        p.sequencer = cores_.back();
        core_controllers_.push_back(new L1Cache_Controller(p));
    }

    void addNode(int i)
    {
        L3Cache_ControllerParams p;
        p.version = i;
        p.cluster_id = i;
        p.ruby_system = &ruby_;
        p.L3cache = new CacheMemory(2, 2);
        p.l3_latency = p.request_latency = p.grant_latency = p.probe_latency = p.response_latency = p.report_latency = Cycles(1);
        p.requestToNode = from(MachineType_L3Cache, i, 0);
        p.requestFromNode = to(MachineType_L3Cache, i, 0);
        p.probeToNode = from(MachineType_L3Cache, i, 1, true);
        p.responseToNode = from(MachineType_L3Cache, i, 2);
        p.responseFromNode = to(MachineType_L3Cache, i, 2);
        p.reportToNode = from(MachineType_L3Cache, i, 3, true);
        p.unblockFromNode = to(MachineType_L3Cache, i, 3, true);
        p.probeFromNode = to(MachineType_L3Cache, i, 4);
        p.grantFromNode = to(MachineType_L3Cache, i, 5);
        p.overflowQueue = new MessageBuffer(false);
        nodes_.push_back(new L3Cache_Controller(p));
    }

    void addHome(int i, int sockets, int filter)
    {
        Directory_ControllerParams p;
        p.version = i;
        p.ruby_system = &ruby_;
        p.probeFilter = new CacheMemory(filter / 2, 2, sockets); // lines go round the homes
        p.read_busy_cycles = Cycles(8);
        p.probe_latency = p.to_memory_latency = p.response_latency = Cycles(1);
        p.requestToHome = from(MachineType_Directory, i, 0);
        p.probeFromHome = to(MachineType_Directory, i, 1, true);
        p.responseToHome = from(MachineType_Directory, i, 2);
        p.responseFromHome = to(MachineType_Directory, i, 2);
        p.unblockToHome = from(MachineType_Directory, i, 3, true);
        p.timerQueue = new MessageBuffer(false);
        p.requestToMemory = new MessageBuffer(true);
        p.responseFromMemory = new MessageBuffer(false);
        homes_.push_back(new Directory_Controller(p));
    }

    void addDevice(int i, int own)
    {
        DMA_ControllerParams p;
        p.version = i;
        p.ruby_system = &ruby_;
        p.request_latency = Cycles(1);
        p.requestFromDMA = to(MachineType_DMA, i, 0);
        p.responseToDMA = from(MachineType_DMA, i, 2);
        p.after_memory = i % 2 != 0; // every other one hears of its writes later
        p.mandatoryQueue = new MessageBuffer(false);
        devices_.push_back(new Device(own, p.mandatoryQueue));
        p.dma_sequencer = devices_.back();
        new DMA_Controller(p); // ruby_ knows it
    }

    RubySystem ruby_;
    std::vector<Core *> cores_;
    std::vector<Device *> devices_;
    std::vector<L1Cache_Controller *> core_controllers_;
    std::vector<L3Cache_Controller *> nodes_;
    std::vector<Directory_Controller *> homes_;
    std::map<std::tuple<MachineType, NodeID, int>, MessageBuffer *> received_;
    std::map<std::tuple<MachineType, int, MachineType, NodeID, int>, Tick> last_;
};

} // namespace
} // namespace ruby
} // namespace gem5

int main(int count, char **arguments)
{
    if (count != 8) {
        std::fprintf(stderr, "protocol-tester SOCKETS CORES SEED ACCESSES LINES DEVICES FILTER\n");
        return 2;
    }
    const int sockets = std::atoi(arguments[1]), cores = std::atoi(arguments[2]), devices = std::atoi(arguments[6]),
              filter = std::atoi(arguments[7]);
    gem5::generator.seed(std::strtoull(arguments[3], nullptr, 10));
    gem5::ruby::lines = std::atoi(arguments[5]);
    if (sockets < 1 || cores < 1 || devices < 0 || sockets * cores + devices > gem5::ruby::kCounterAt || gem5::ruby::lines < 1 ||
        filter < 2) {
        std::fprintf(stderr,
                     "There are at most %d cores and devices, a byte of a line for each, and at least a line and two entries of "
                     "the filter.\n",
                     gem5::ruby::kCounterAt);
        return 2;
    }
    gem5::ruby::System system(sockets, cores, devices, filter);
    system.run(std::strtoull(arguments[4], nullptr, 10));
    system.print();
    std::cout << "accesses " << gem5::ruby::done << " cycles " << gem5::curTick() << '\n';
}
