/* SPDX-License-Identifier: Apache-2.0 */
/* Identities of files, and the kernel's vDSO. */
/* covers: common/formats/buildid.c common/formats/fileid.h common/formats/vdso.c */
#include "common/formats/buildid.h"
#include "common/formats/elfhead.h"
#include "common/formats/fileid.h"
#include "common/formats/vdso.h"
#include "test/lib/tap.h"

static void test_notes(void)
{
	static const uint32_t foreign[] = { 4, 4, NT_GNU_BUILD_ID, 0x00554f47, 1 }; /* "GOU" */
	static const uint32_t empty[] = { 4, 0, NT_GNU_BUILD_ID, 0x00554e47 };
	static const uint32_t longer[] = { 4, 24, NT_GNU_BUILD_ID, 0x00554e47, 1, 2, 3, 4, 5, 6 };
	static const uint32_t short_one[] = { 4, 3, NT_GNU_BUILD_ID, 0x00554e47, 0x00030201 };
	struct build_id id = buildid_in_notes((struct str){ (const char *)short_one, sizeof(short_one) });

	ok(id.n == 3 && memcmp(id.byte, "\1\2\3\0", 4) == 0, "a short build-id, padded with zeros");
	is_u64(buildid_in_notes((struct str){ (const char *)foreign, sizeof(foreign) }).n, 0, "another owner's note");
	is_u64(buildid_in_notes((struct str){ (const char *)empty, sizeof(empty) }).n, 0, "an empty one");
	id = buildid_in_notes((struct str){ (const char *)longer, sizeof(longer) });
	ok(id.n == BUILD_ID_MAX && id.byte[16] == 5, "a long one is cut");
	for (size_t n = 0; n < sizeof(longer); n++)
		if (buildid_in_notes((struct str){ (const char *)longer, n }).n)
			ok(false, "a cut note has none");
}

static void test_equality(void)
{
	struct build_id a = { 2, { 1, 2, 3 } }, b = { 2, { 1, 2, 4 } };
	struct file_id file = { 8, 1, 7, 3 }, other;

	ok(build_id_equal(&a, &b), "bytes beyond the build-id do not count");
	b.n = 3;
	ok(!build_id_equal(&a, &b), "its length does");
	ok(file_id_equal(&file, &file), "a file is itself");
	other = file, other.major++;
	ok(!file_id_equal(&file, &other), "another major");
	other = file, other.minor++;
	ok(!file_id_equal(&file, &other), "another minor");
	other = file, other.inode++;
	ok(!file_id_equal(&file, &other), "another inode");
	other = file, other.generation++;
	ok(!file_id_equal(&file, &other), "another generation");
}

static void test_vdso(void)
{
	struct elfhead_source source;
	struct elfhead head;
	size_t tables = 0;

	if (!vdso_image().n) {
		printf("ok %d # SKIP the kernel maps no 64-bit vDSO\n", ++tap_n);
		return;
	}
	source = elfhead_image(vdso_image());
	ok(!elfhead_read(&head, &source, true), "the vDSO is an ELF image whose section headers are inside");
	for (size_t i = 1; i < head.sections; i++)
		tables += head.section[i].sh_type == SHT_DYNSYM &&
			  elfhead_section(&head, &head.section[i], &head.arena, UINT64_MAX).n > 0;
	is_u64(tables, 1, "  with its dynamic symbols");
	ok(elfhead_build_id(&head, false).n > 0, "  and a build-id");
	elfhead_free(&head);
}

int main(void)
{
	test_notes();
	test_equality();
	test_vdso();
	return done();
}
