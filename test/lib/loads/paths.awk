# paths.awk - generates Paths.java, a program whose possible stacks are known: awk -f paths.awk >Paths.java
#
# Class Work has methods dLEVEL_NUMBER: LEVELS levels of WIDTH methods. dL_K calls only d(L+1)_J with (J - K) mod WIDTH != WIDTH - 1. So each
# call goes one level down, and a quarter of the pairs of neighbours do not exist: a lost, repeated or wrong frame mostly gives a stack that the
# program cannot have (paths-check.awk). The last level computes, and throws exceptions that pass several levels.
# The methods have what an unwinder must cope with: virtual, final and interface calls, a large frame, synchronized blocks, loops that are
# compiled while they run (OSR), try and finally, intrinsics. Halfway through a generation the receivers of the interface calls become objects of
# new classes, which deoptimizes their callers. Each generation of Work comes from a class loader of its own, so HotSpot compiles its code anew
# and frees the former code, also while the program is sampled.
#
#     java -cp . Paths THREADS SECONDS-OF-A-GENERATION
BEGIN {
	LEVELS = 12
	WIDTH = 4
	print "import java.io.IOException;\nimport java.nio.file.*;\n\npublic class Paths {"
	steps()
	work()
	loader()
	print "}"
}

# steps: receivers of the interface calls from level 4 to level 5. StepN and Step(N + WIDTH) call the same method.
function steps(   i)
{
	print "\tpublic interface Step { long step(Work work, long x); }"
	for (i = 0; i < 2 * WIDTH; i++)
		printf "\tpublic static class Step%d implements Step { public long step(Work work, long x) { return work.d5_%d(x); } }\n", i, i % WIDTH
}

function work(   level, k)
{
	print "\tpublic static class Work implements Runnable {"
	print "\t\tpublic volatile boolean stop;\n\t\tvolatile Step[] steps = { new Step0(), new Step1(), new Step2(), new Step3() };\n\t\tlong sum;"
	print "\t\tpublic void upgrade() { steps = new Step[] { new Step4(), new Step5(), new Step6(), new Step7() }; }"
	print "\t\tpublic void run() {\n\t\t\tlong x = System.nanoTime();"
	print "\t\t\twhile (!stop) {\n\t\t\t\tx = x * 6364136223846793005L + 1442695040888963407L;\n\t\t\t\tsum += enter(x >>> 20);\n\t\t\t}\n\t\t}"
	print "\t\tlong enter(long x) {\n\t\t\ttry {\n\t\t\t\tswitch ((int)x & 3) {"
	for (k = 0; k < WIDTH; k++)
		printf "\t\t\t\t%s return d1_%d(x);\n", k == WIDTH - 1 ? "default:" : "case " k ":", k
	print "\t\t\t\t}\n\t\t\t} catch (IllegalStateException e) {\n\t\t\t\treturn 1;\n\t\t\t}\n\t\t}"
	for (level = 1; level < LEVELS; level++)
		for (k = 0; k < WIDTH; k++)
			method(level, k)
	for (k = 0; k < WIDTH; k++)
		last(k)
	print "\t}"
}

# call: the expression that calls method number k + j of the next level with argument x
function call(level, k, j, x)
{
	k = (k + j) % WIDTH
	return level == 4 ? sprintf("steps[%d].step(this, %s)", k, x) : sprintf("d%d_%d(%s)", level + 1, k, x)
}

function method(level, k,   i)
{
	printf "\t\t%slong d%d_%d(long x) {\n\t\t\tlong r;\n", k == 2 ? "final " : "", level, k
	if (level % 4 == 2)
		print "\t\t\ttry {"
	if (level == 3 && k == 1) # all of these are alive across the calls
		for (i = 0; i < 24; i++)
			printf "\t\t\tlong a%d = x * %d;\n", i, 2 * i + 3
	if (level == 7 && k == 2)
		printf "\t\t\tfor (int i = 0; i < 3; i++) x += %s;\n", call(level, k, 0, "x + i")
	if (level == 6 && k == 0)
		printf "\t\t\tsynchronized (this) { x += %s; }\n", call(level, k, 1, "x ^ 5")
	printf "\t\t\tswitch ((int)(x >>> %d) & 3) {\n", 2 * level
	printf "\t\t\tcase 0: r = %s; break;\n", call(level, k, 0, "x * 31 + " level)
	printf "\t\t\tcase 1: r = %s; break;\n", call(level, k, 1, "x ^ (x >>> 7)")
	printf "\t\t\tdefault: r = %s; break;\n\t\t\t}\n", call(level, k, 2, "x + 77")
	if (level == 3 && k == 1)
		for (i = 0; i < 24; i++)
			printf "\t\t\tr += a%d;\n", i
	print "\t\t\treturn r + x;"
	if (level % 4 == 2)
		printf "\t\t\t} catch (IllegalArgumentException e) { return x + %d; } finally { sum++; }\n", k
	print "\t\t}"
}

function last(k)
{
	printf "\t\tlong d%d_%d(long x) {\n", LEVELS, k
	print "\t\t\tif ((x & 63) == 7) throw new IllegalArgumentException();\n\t\t\tif ((x & 4095) == 9) throw new IllegalStateException();"
	print "\t\t\tlong r = x;\n\t\t\tint n = (x & 8191) == 11 ? 400000 : 60 + (int)(x & 127);"
	if (k == 0)
		print "\t\t\tfor (int i = 0; i < n; i++) r = r * 25214903917L + i;"
	else if (k == 1)
		print "\t\t\tfor (int i = 0; i < n; i++) r ^= (r << 13) ^ (r >>> 7) ^ i;"
	else if (k == 2)
		print "\t\t\tdouble d = 1;\n\t\t\tfor (int i = 0; i < n / 8; i++) d += Math.sin(d + i);\n\t\t\tr += (long)d;"
	else
		print "\t\t\tbyte[] b = new byte[64];\n\t\t\tfor (int i = 0; i < n / 8; i++) { System.arraycopy(b, 0, b, 8, 48); r += b[i & 63]; }"
	print "\t\t\treturn r;\n\t\t}"
}

function loader()
{
	print "\t/* Defines its own copy of Work and of the steps. */\n\tstatic class Loader extends ClassLoader {"
	print "\t\tLoader() { super(Paths.class.getClassLoader()); }"
	print "\t\tprotected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {"
	print "\t\t\tif (!name.startsWith(\"Paths$Work\") && !name.startsWith(\"Paths$Step\")) return super.loadClass(name, resolve);"
	print "\t\t\tClass<?> known = findLoadedClass(name);\n\t\t\tif (known != null) return known;"
	print "\t\t\ttry {\n\t\t\t\tbyte[] b = Files.readAllBytes(FileSystems.getDefault().getPath(System.getProperty(\"java.class.path\"), name + \".class\"));"
	print "\t\t\t\treturn defineClass(name, b, 0, b.length);\n\t\t\t} catch (IOException e) {\n\t\t\t\tthrow new ClassNotFoundException(name);\n\t\t\t}\n\t\t}\n\t}"
	print "\tpublic static void main(String[] args) throws Exception {"
	print "\t\tint threads = Integer.parseInt(args[0]);\n\t\tlong ms = (long)(1000 * Double.parseDouble(args[1]));\n\t\tfor (;;) {"
	print "\t\t\tClass<?> work = new Loader().loadClass(\"Paths$Work\", true);\n\t\t\tObject[] one = new Object[threads];\n\t\t\tThread[] thread = new Thread[threads];"
	print "\t\t\tfor (int i = 0; i < threads; i++) {\n\t\t\t\tone[i] = work.getDeclaredConstructor().newInstance();"
	print "\t\t\t\tthread[i] = new Thread((Runnable)one[i], \"paths-\" + i);\n\t\t\t\tthread[i].start();\n\t\t\t}"
	print "\t\t\tThread.sleep(ms / 2);\n\t\t\tfor (Object o : one) work.getMethod(\"upgrade\").invoke(o);"
	print "\t\t\tThread.sleep(ms / 2);\n\t\t\tfor (Object o : one) work.getField(\"stop\").setBoolean(o, true);"
	print "\t\t\tfor (Thread t : thread) t.join();\n\t\t\tSystem.gc();\n\t\t}\n\t}"
}
