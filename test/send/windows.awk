# windows.awk - folded windows as they are spooled: awk -v hosts=2 -v windows=3 -v stacks=1200 -v to=FOLDER -f windows.awk
# The same every time. Prints what all of them are together: "host stack value", not in order.
function random() { state = (state * 1103515245 + 12345) % 2147483648; return state }
BEGIN {
	if (!first) first = 1700000000
	if (!seconds) seconds = 30
	state = seed ? seed : 7
	for (h = 1; h <= hosts; h++) for (w = 0; w < windows; w++) {
		epoch = first + w * seconds
		file = sprintf("%s/%d.h%d", to, epoch, h)
		sum = 0
		body = ""
		for (i = 0; i < stacks; i++) {
			# the first of the hour: what JSON and TSV must escape, what is no UTF-8, blanks
			odd = i == 3 ? "quote\"back\\slash" : i == 4 ? "blank in it" : i == 5 ? "\303\244\342\202\254" : i == 6 && wild ? "bad\377\355\240\200" : "f"
			stack = sprintf("java-%d;Thread.run;%s;org/example/service/Handler%05d.handle;leaf%d", 100 + h, odd, i, i % 17)
			value = random() % 50 + 1
			sum += value
			body = body stack " " value "\n"
			print "h" h, stack, value
		}
		printf "# pj unit=samples event=cycles frequency=99 from=%d to=%d host=h%d samples=%d lost=%d labels=service=shop%d,version=1.2 machine=%016d stream=%016d\n%s",
			epoch, epoch + seconds, h, sum, w, h, h, 70 + h, body >file
		close(file)
	}
}
