# sbom.awk - SPDX 2.3 of the lines of sbom.sh: date TIME, commit HASH, file NAME SHA256 SHA1, library NAME VERSION (loaded at start),
# static NAME VERSION [PURL] (linked)
function package(id, name, version, license, more) {
	return sprintf("    {\n      \"SPDXID\": \"SPDXRef-%s\",\n      \"name\": \"%s\",\n      \"versionInfo\": \"%s\",\n" \
		"      \"downloadLocation\": \"NOASSERTION\",\n      \"licenseConcluded\": \"%s\",\n      \"licenseDeclared\": \"%s\",\n" \
		"      \"copyrightText\": \"NOASSERTION\",\n      %s\n    }", id, name, version, license, license, more)
}

function relation(from, type, to) {
	relations = relations (relations == "" ? "" : ",\n") sprintf("    { \"spdxElementId\": \"SPDXRef-%s\", \"relationshipType\": \"%s\", \"relatedSpdxElement\": \"SPDXRef-%s\" }", from, type, to)
}

BEGIN {
	# of the parts that are linked
	license["zlib"] = "Zlib"
	license["libzstd"] = "BSD-3-Clause"
	license["liblzma"] = "LicenseRef-public-domain"
	license["libdw"] = "GPL-2.0-or-later OR LGPL-3.0-or-later"
	license["libcurl"] = "curl"
	license["jansson"] = "MIT"
	license["glibc"] = "LGPL-2.1-or-later"
	license["libiberty"] = "LGPL-2.1-or-later"
	license["libelf"] = license["libdw"]
	license["bzip2"] = "bzip2-1.0.6"
	license["mbedtls"] = "Apache-2.0"
	license["libgcc"] = "GPL-3.0-or-later WITH GCC-exception-3.1"
	supplier = maintainer
	sub(/ *<.*/, "", supplier)
	address = maintainer
	sub(/^[^<]*/, "", address)
	gsub(/[<>]/, "", address)
}

$1 == "date" { date = $2 }
$1 == "commit" { commit = $2 }

$1 == "file" {
	files = files (files == "" ? "" : ",\n") sprintf("    {\n      \"SPDXID\": \"SPDXRef-File-%s\",\n      \"fileName\": \"./bin/%s\",\n" \
		"      \"checksums\": [\n        { \"algorithm\": \"SHA1\", \"checksumValue\": \"%s\" },\n        { \"algorithm\": \"SHA256\", \"checksumValue\": \"%s\" }\n      ],\n" \
		"      \"licenseConcluded\": \"Apache-2.0\",\n      \"copyrightText\": \"NOASSERTION\"\n    }", $2, $2, $4, $3)
	relation("File-" $2, "GENERATED_FROM", "Package-pj")
}

$1 == "library" || $1 == "static" {
	reference = $4 == "" ? "" : "\"externalRefs\": [{ \"referenceCategory\": \"PACKAGE-MANAGER\", \"referenceType\": \"purl\", \"referenceLocator\": \"" $4 "\" }],\n      "
	packages = packages ",\n" package("Library-" $2, $2, $3, $2 in license ? license[$2] : "NOASSERTION", reference "\"filesAnalyzed\": false")
	relation("Package-pj", $1 == "static" ? "STATIC_LINK" : "DEPENDS_ON", "Library-" $2)
}

END {
	printf "{\n  \"spdxVersion\": \"SPDX-2.3\",\n  \"dataLicense\": \"CC0-1.0\",\n  \"SPDXID\": \"SPDXRef-DOCUMENT\",\n  \"name\": \"%s\",\n", name
	printf "  \"documentNamespace\": \"https://spdx.org/spdxdocs/%s-%s\",\n", name, commit
	printf "  \"creationInfo\": { \"created\": \"%s\", \"creators\": [\"Tool: pj-sbom\"] },\n", date
	printf "  \"hasExtractedLicensingInfos\": [{ \"licenseId\": \"LicenseRef-public-domain\", \"extractedText\": \"liblzma is in the public domain.\" }],\n"
	printf "  \"packages\": [\n%s%s\n  ],\n", package("Package-pj", "pj", version, "Apache-2.0", "\"supplier\": \"Organization: " supplier " (" address ")\",\n      \"homepage\": \"" homepage "\",\n      \"sourceInfo\": \"commit " commit "\",\n      \"filesAnalyzed\": false"), packages
	printf "  \"files\": [\n%s\n  ],\n  \"relationships\": [\n    { \"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\", \"relatedSpdxElement\": \"SPDXRef-Package-pj\" },\n%s\n  ]\n}\n", files, relations
}
