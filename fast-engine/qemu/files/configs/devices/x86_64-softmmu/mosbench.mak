# The one board of the machines, and of its devices those that are not always part of it.
CONFIG_I440FX=y
CONFIG_HPET=y
CONFIG_SERIAL_ISA=y
