// Work MODE [SECONDS]: a JVM to be looked at. idle: compiles some thousand methods, says "ready", and rests. churn: compiles Java for ever, so that code
// comes, and goes where the code cache is small. burst: works all its time, and ends. inline: the same, in one function
// that is inlined. burst: works all its SECONDS, and ends.
import java.io.*;
import java.util.*;
import java.util.function.*;
import java.util.stream.*;
import javax.tools.*;

public class Work {
    static final Map<String, Integer> words = new TreeMap<>();
    static long sink;

    static int fold(String s) {
        int h = 7;
        for (char c : s.toCharArray())
            h = h * 31 + c;
        return h;
    }

    static void some(int round) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < 200; i++)
            b.append(Integer.toHexString(i * round)).append(i % 7 == 0 ? '\n' : ' ');
        for (String w : b.toString().split("\\s+"))
            words.merge(w, 1, Integer::sum);
        sink += Arrays.stream(b.toString().split("\n")).map(String::trim).filter(s -> s.matches("[0-9a-f ]+")).collect(Collectors.summingInt(Work::fold));
        if (words.size() > 5000)
            words.clear();
    }

    // Nearly all of the time is spent in hot, which has no code of its own: it is inlined into outer.
    static int hot(int x) {
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
        x = x * 1664525 + 1013904223;
        x ^= x >>> 3;
        return x * 22695477 + 1;
    }

    static int outer(int n) {
        int x = n;
        for (int i = 0; i < n; i++)
            x = hot(x);
        return x;
    }

    static void compile() throws Exception {
        JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
        if (javac == null)
            return;
        StringBuilder s = new StringBuilder("class T { ");
        for (int i = 0; i < 40; i++)
            s.append("int f").append(i).append("(java.util.List<Integer> l) { return l.stream().filter(x -> x > ").append(i).append(").mapToInt(x -> x).sum(); } ");
        s.append("}");
        final String text = s.toString();
        JavaFileObject in = new SimpleJavaFileObject(java.net.URI.create("string:///T.java"), JavaFileObject.Kind.SOURCE) {
            public CharSequence getCharContent(boolean ignore) { return text; }
        };
        File out = new File(System.getProperty("java.io.tmpdir"));
        javac.getTask(null, null, null, Arrays.asList("-d", out.getPath(), "-proc:none"), null, Collections.singletonList(in)).call();
    }

    public static void main(String[] args) throws Exception {
        boolean inline = args[0].equals("inline");
        boolean churn = args[0].equals("churn");
        long end = System.nanoTime() + (args.length > 1 ? Long.parseLong(args[1]) : 60) * 1000000000L;
        for (int i = 0; args[0].equals("burst") && System.nanoTime() < end; i++)
            some(i);
        while (inline && System.nanoTime() < end)
            sink += outer(100000);
        for (int i = 0; !args[0].equals("burst") && i < 2000; i++)
            some(i);
        System.out.println("ready");
        System.out.flush();
        for (int i = 0; System.nanoTime() < end; i++) {
            if (churn)
                compile();
            else
                Thread.sleep(100);
        }
    }
}
