# SPDX-License-Identifier: BSD-3-Clause
"""HyperTransport between the sockets: one router for each socket, two one-way links for each edge of the machine file."""

from collections.abc import Sequence

from m5.objects import BaseRoutingUnit, RubyController, RubySystem, SimpleExtLink, SimpleIntLink, SimpleNetwork, Switch

from board.latencies import Latencies
from board.machine_values import Machine

VIRTUAL_NETWORKS = 6
_INSIDE_BYTES_PER_CYCLE = 64
"""Between a controller and its socket's router: a line a cycle."""


class HyperTransport(SimpleNetwork):
    """The network."""

    def __init__(self, ruby: RubySystem) -> None:
        super().__init__()
        self.ruby_system = ruby
        self.number_of_virtual_networks = VIRTUAL_NETWORKS
        self.netifs: list[BaseRoutingUnit] = []

    def connect(
        self,
        machine: Machine,
        latencies: Latencies,
        controllers: Sequence[tuple[int, int, RubyController]],
        routing: Sequence[BaseRoutingUnit],
    ) -> None:
        """Connect controllers.

        Args:
            controllers: socket, cycles from its router, controller.
            routing: a routing unit for each socket.
        """
        routers = [Switch(router_id=socket, latency=1, routing_unit=unit) for socket, unit in enumerate(routing)]
        self.routers = routers
        self.ext_links = [
            SimpleExtLink(
                link_id=i,
                ext_node=controller,
                int_node=routers[socket],
                latency=latency,
                bandwidth_factor=_INSIDE_BYTES_PER_CYCLE,
            )
            for i, (socket, latency, controller) in enumerate(controllers)
        ]
        # Bytes a cycle; gem5 wants a whole number of them.
        width = max(1, round(machine.link_gbytes_per_second / machine.clock_ghz))
        links: list[SimpleIntLink] = []
        for low, high in machine.links:
            for source, target, latency in ((low, high, latencies.link_out), (high, low, latencies.link_back)):
                links.append(
                    SimpleIntLink(
                        link_id=len(controllers) + len(links),
                        src_node=routers[source],
                        dst_node=routers[target],
                        latency=latency,
                        bandwidth_factor=width,
                        weight=1,
                    )
                )
        self.int_links = links
        self.setup_buffers()

    def reset_statistics(self) -> None:
        """Set to zero what gem5's own reset forgets: the counters of the links, which belong to the routers."""
        for router in self.routers:
            for group in router.getStatGroups().values():
                group.resetStats()
