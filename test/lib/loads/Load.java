// Load MODE SECONDS: a busy JVM. mixed: sorts, hashes, matches, parses, streams, calls through interfaces, recursion and exceptions, in two threads; deep: 200 calls
// deep; virtual: the same in virtual threads that park again and again; mixed, with code that comes and goes, is churn.
import java.lang.reflect.Method;
import java.security.MessageDigest;
import java.util.*;
import java.util.concurrent.locks.LockSupport;
import java.util.function.*;
import java.util.regex.*;
import java.util.stream.*;

public class Load {
    interface Shape { double area(); }
    static class Square implements Shape { double s; Square(double s) { this.s = s; } public double area() { return s * s; } }
    static class Circle implements Shape { double r; Circle(double r) { this.r = r; } public double area() { return r * r * Math.PI; } }
    static class Ring implements Shape { double r; Ring(double r) { this.r = r; } public double area() { return r * Math.sqrt(r + 1); } }
    static class Line implements Shape { double l; Line(double l) { this.l = l; } public double area() { return Math.sin(l) * 0; } }

    static volatile long sink;
    static volatile boolean over;

    static long sort(Random random) {
        Integer[] a = new Integer[2000];
        for (int i = 0; i < a.length; i++)
            a[i] = random.nextInt();
        Arrays.sort(a, new Comparator<Integer>() { public int compare(Integer x, Integer y) { return x.compareTo(y); } });
        int[] b = new int[4000];
        for (int i = 0; i < b.length; i++)
            b[i] = random.nextInt();
        Arrays.sort(b);
        return a[0] + b[0];
    }

    static long hash(Random random) throws Exception {
        byte[] bytes = new byte[16384];
        random.nextBytes(bytes);
        return MessageDigest.getInstance("SHA-256").digest(bytes)[0] + MessageDigest.getInstance("MD5").digest(bytes)[0];
    }

    static final Pattern pattern = Pattern.compile("(\\w+)@(\\w+)\\.(com|org|net)");

    static long match() {
        long n = 0;
        Matcher m = pattern.matcher("some text with a@b.com and not quite@anything, but then user@example.org; and so on, and more@host.net");
        while (m.find())
            n += m.group(1).length();
        return n;
    }

    static int at;

    static Object parse(String s, int[] at) {
        char c = s.charAt(at[0]);
        if (c == '{') {
            Map<String, Object> map = new HashMap<>();
            at[0]++;
            while (s.charAt(at[0]) != '}') {
                String key = (String) parse(s, at);
                at[0]++;
                map.put(key, parse(s, at));
                if (s.charAt(at[0]) == ',')
                    at[0]++;
            }
            at[0]++;
            return map;
        }
        if (c == '[') {
            List<Object> list = new ArrayList<>();
            at[0]++;
            while (s.charAt(at[0]) != ']') {
                list.add(parse(s, at));
                if (s.charAt(at[0]) == ',')
                    at[0]++;
            }
            at[0]++;
            return list;
        }
        int start = at[0];
        if (c == '"') {
            int end = s.indexOf('"', start + 1);
            at[0] = end + 1;
            return s.substring(start + 1, end);
        }
        while (Character.isDigit(s.charAt(at[0])))
            at[0]++;
        return Integer.parseInt(s.substring(start, at[0]));
    }

    static long json() {
        StringBuilder b = new StringBuilder("{\"list\":[");
        for (int i = 0; i < 100; i++)
            b.append(i == 0 ? "" : ",").append("{\"id\":").append(i).append(",\"name\":\"n").append(i).append("\",\"of\":[1,2,[3,4]]}");
        return parse(b.append("]}").toString(), new int[1]).hashCode();
    }

    static long streams() {
        return IntStream.range(0, 2000).boxed().filter(i -> i % 3 != 0).map(i -> "k" + i % 50).collect(Collectors.groupingBy(Function.identity(), TreeMap::new, Collectors.counting()))
            .values().stream().mapToLong(Long::longValue).sum();
    }

    static final Shape[] shapes = { new Square(2), new Circle(3), new Ring(4), new Line(5), new Circle(1) };

    static long shapes() {
        double sum = 0;
        for (int i = 0; i < 20000; i++)
            sum += shapes[i % shapes.length].area();
        return (long) sum;
    }

    static long recurse(int depth, long x) {
        if (depth == 0) {
            for (int i = 0; i < 2000; i++)
                x = x * 6364136223846793005L + 1442695040888963407L;
            return x;
        }
        return recurse(depth - 1, x + depth) ^ depth;
    }

    static void fail(int depth) {
        if (depth == 0)
            throw new IllegalStateException("as wanted");
        fail(depth - 1);
    }

    static long exceptions() {
        long n = 0;
        for (int i = 0; i < 20; i++) {
            try {
                fail(10);
            } catch (IllegalStateException e) {
                n += e.getMessage().length();
            }
        }
        return n;
    }

    static void round(Random random, boolean deep) throws Exception {
        if (deep) {
            for (int i = 0; i < 50; i++)
                sink += recurse(200, i);
            return;
        }
        sink += sort(random) + hash(random) + json() + streams() + shapes() + exceptions();
        for (int i = 0; i < 50; i++)
            sink += match();
        sink += recurse(40, 1) + System.identityHashCode(new Object()) + Thread.currentThread().getName().length();
    }

    static void work(String mode) {
        Random random = new Random(42);
        try {
            while (!over) {
                round(random, mode.equals("deep"));
                if (mode.equals("virtual"))
                    nested(30, random);
            }
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }

    // parks far from where it began, so that it comes back frame by frame
    static void nested(int depth, Random random) throws Exception {
        if (depth == 0)
            LockSupport.parkNanos(1000);
        else
            nested(depth - 1, random);
        sink += depth % 10 == 0 ? json() : recurse(3, depth);
    }

    public static void main(String[] args) throws Exception {
        final String mode = args[0];
        List<Thread> threads = new ArrayList<>();
        Runnable work = new Runnable() { public void run() { work(mode); } };
        for (int i = 0; i < (mode.equals("virtual") ? 8 : 2); i++) {
            if (mode.equals("virtual")) {
                Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
                threads.add((Thread) start.invoke(null, work));
            } else {
                Thread t = new Thread(work, "load-" + i);
                t.start();
                threads.add(t);
            }
        }
        Thread.sleep((long) (Double.parseDouble(args[1]) * 1000));
        over = true;
        for (Thread t : threads)
            t.join();
    }
}
