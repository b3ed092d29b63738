# pj: one Makefile for everything. `make help` lists the targets.
# Variants never share objects: SAN=1 (address and undefined-behaviour sanitizers) and CC live in folders of their own.

CC      ?= cc
PREFIX  ?= /usr/local
DESTDIR ?=
V       ?= 0
SAN     ?= 0

CCNAME  := $(notdir $(firstword $(CC)))
VARIANT := $(if $(filter 1,$(SAN)),san,std)-$(CCNAME)
B       := build/$(VARIANT)

WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wformat=2 -Werror
STD  := -std=c17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64
ifeq ($(SAN),1)
OPTIM := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
else
OPTIM := -O2
endif
CFLAGS  ?= -g
ALL_CFLAGS = $(STD) $(OPTIM) $(WARN) -fno-common -fno-omit-frame-pointer -fstack-protector-strong -Icommon -I. -MMD -MP -pthread $(CFLAGS)
LDLIBS  += -lz -pthread

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-5s %s\n' $(1) $(2);)

# A tool is its main (DIR/pjNAME.c), what else its folder holds, and the library common/.
MAINS := $(wildcard */pj*.c)
TOOLS := $(patsubst %.c,$(B)/bin/%,$(notdir $(MAINS)))
LIB   := $(B)/libpj.a
LIBOBJS := $(patsubst %.c,$(B)/%.o,$(wildcard common/*.c))
parts = $(patsubst %,$(B)/%.o,$(basename $(filter-out $(1)/pj%.c,$(wildcard $(1)/*.c $(1)/*.S))))

all: $(TOOLS)

define tool
$(B)/bin/$(notdir $(1:.c=)): $(B)/$(1:.c=.o) $(call parts,$(patsubst %/,%,$(dir $(1)))) $(LIB)
endef
$(foreach m,$(MAINS),$(eval $(call tool,$(m))))

$(TOOLS):
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(LIB): $(LIBOBJS)
	$(call say,AR,$@)rm -f $@ && $(AR) rc $@ $^

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(B)/%.o: %.S
	@mkdir -p $(@D)
	$(call say,AS,$<)$(CC) $(ALL_CFLAGS) -c -o $@ $<

clean:
	rm -rf build

-include $(shell find build -name '*.d' 2>/dev/null)

.PHONY: all clean
.DELETE_ON_ERROR:
